import type { TaskListener } from "../../app/task/task.ts";
import type { NewEvent } from "../../contract/event.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Io } from "../command.ts";
import { progressLine } from "../progress.ts";

/** What an agent does, one line each, on stderr; everything in full is in the session folder. */
export function taskProgress(io: Io): TaskListener {
  const line = (text: string): void => io.err(`${text}\n`);
  return {
    opened: (task) => {
      line(`${task.resumed ? "↻" : "→"} ${task.beadId}  ${inertLine(task.title, 100)}`);
      line(`  ${task.branch === null ? "in place" : `branch ${task.branch}`} · ${task.runner}, ${inertLine(task.model, 60)} · session ${task.sessionId}`);
    },
    say: (text) => line(`  ${text}`),
    event(event) {
      const text = taskLine(event);
      if (text !== undefined) line(text);
    },
    delta: () => {},
    warn: (message) => line(`warning: ${inertLine(message)}`),
    ...(io.errIsTerminal ? { bell: () => io.err("\u0007") } : {}),
  };
}

/** Thinking, writing and running are told by what follows. */
const STATUS: Record<string, string> = { waiting: "waiting for a person" };

/** Calls whose meaning is told by an event of its own, or by the end. */
const TOLD_OTHERWISE = new Set(["AskUserQuestion", "ask_user", "reflect", "update_plan", "spawn_agent"]);

/** One event of an agent at work, in words; undefined when it says nothing to a person. */
export function taskLine(event: NewEvent): string | undefined {
  switch (event.type) {
    case "agent.process":
      return `  ${inertLine(event.runner, 40)} ${inertLine(event.version, 40)}${event.resumed ? " goes on" : " starts"}${event.sandboxed ? " in its sandbox" : " WITHOUT a sandbox"}`;
    case "agent.status":
      return STATUS[event.status] === undefined ? undefined : `  … ${STATUS[event.status]}`;
    case "agent.output":
      return spoken(event.text);
    case "agent.tool_call":
      return TOLD_OTHERWISE.has(event.tool) ? undefined : `  · ${inertLine(event.tool, 60)} ${inertLine(mainInput(event.input), 120)}`.trimEnd();
    case "agent.tool_result":
      return event.ok ? undefined : `    ✗ ${inertLine(event.output, 160)}`;
    case "agent.completed":
    case "task.completed":
      return undefined;
    default:
      return progressLine(event);
  }
}

function spoken(text: string): string | undefined {
  const words = inertLine(spokenText(text), 200);
  return words === "" ? undefined : `  ${words}`;
}

/** What an agent says on its way; the report at the end is for a program. */
export function spokenText(text: string): string {
  return text.replace(/^ {0,3}```json[\s\S]*?(?:^ {0,3}```[^\n]*$|(?![\s\S]))/gm, "").trimEnd();
}

/** Of a tool's input what a person would name it by. */
export function mainInput(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const record = input as Record<string, unknown>;
  const main = MAIN.map((key) => record[key]).find((value) => typeof value === "string" && value !== "");
  return typeof main === "string" ? main : Object.keys(record).length === 0 ? "" : (JSON.stringify(record) ?? "");
}

const MAIN = ["command", "file_path", "path", "notebook_path", "pattern", "url", "query", "description", "question", "task"];
