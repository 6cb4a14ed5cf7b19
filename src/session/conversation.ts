import type { CruEvent, PlanTask } from "../contract/event.ts";
import { inertLine } from "../lib/inert.ts";
import { codeSpan, plainMarkdown, tameMarkdown, wikilink } from "../lib/wikilink.ts";
import { summaryLine } from "./summary.ts";

/** Events that may come between two pieces of one text. */
const WITHIN_TEXT = new Set<CruEvent["type"]>([
  "agent.output", "agent.thinking", "agent.status", "agent.usage", "agent.stderr", "agent.raw", "model.request", "model.reply",
]);

/** Calls that have events of their own; only their failures are worth a line. */
const SHOWN_OTHERWISE = new Set(["update_plan", "reflect", "spawn_agent"]);

export type Conversation = {
  /** True when the text has changed. */
  add(event: CruEvent): boolean;
  text(): string;
  /** About how long the text is, without making it. */
  size(): number;
};

/** The body of `session.md`: what was said to the user and what the primary agent did, in order. The full recording is in the events. */
export function startConversation(): Conversation {
  const blocks: string[] = [];
  const agents = new Map<string, { agent: string; depth: number }>();
  let speaker = "";
  let pending = "";
  let primary = "primary";
  let length = 0;

  const say = (who: string, text: string): void => {
    if (text.trim() === "") return;
    if (speaker !== who) blocks.push(`## ${plainMarkdown(who, 80)}`);
    speaker = who;
    blocks.push(text);
    length += text.length;
  };
  const flush = (): void => {
    say(primary, tameMarkdown(pending));
    pending = "";
  };

  return {
    add(event) {
      const before = blocks.length;
      const span = "span_id" in event ? event.span_id : undefined;
      if (event.type === "agent.started") {
        agents.set(event.span_id ?? "", { agent: event.agent, depth: event.depth });
        if (event.depth === 0) primary = event.agent;
      }
      const isChild = span !== undefined && (agents.get(span)?.depth ?? 0) > 0;
      if (isChild && event.type !== "agent.started" && event.type !== "agent.completed" && !event.type.startsWith("inbox.")) return false;
      if (event.type === "agent.output") pending += event.text;
      // The stream broke and starts again.
      else if (event.type === "agent.retry") pending = "";
      else if (!WITHIN_TEXT.has(event.type)) {
        flush();
        if (event.type === "session.started" || event.type === "session.guidance") {
          say("user", tameMarkdown(event.type === "session.started" ? event.request : event.text));
        } else say(primary, blockOf(event, isChild));
      }
      return blocks.length !== before;
    },
    size: () => length + pending.length,
    text: () => `${[...blocks, ...(pending === "" ? [] : [tameMarkdown(pending)])].join("\n\n")}\n`,
  };
}

function blockOf(event: CruEvent, isChild: boolean): string {
  switch (event.type) {
    case "session.resumed":
      return `*resumed at ${event.ts}*`;
    case "session.completed":
      return `*${event.status} after ${number(event.duration_ms)} ms*`;
    case "agent.started":
      return isChild ? `→ Running ${plainMarkdown(event.agent, 80)} agent...` : "";
    case "agent.completed":
      return isChild ? childEnd(event) : event.error === null ? "" : `✗ ${failure(event.error)}`;
    case "agent.tool_call":
      return SHOWN_OTHERWISE.has(event.tool) ? "" : `- ${codeSpan(event.tool, 80)} ${codeSpan(JSON.stringify(event.input) ?? "", 300)}`;
    case "agent.tool_result":
      return event.ok && SHOWN_OTHERWISE.has(event.tool) ? "" : `- ${event.ok ? "✓" : "✗"} ${codeSpan(event.tool, 80)} ${number(event.duration_ms)} ms: ${codeSpan(event.output, 300)}`;
    case "agent.plan":
      return event.tasks.map(planLine).join("\n");
    case "agent.reflection":
      return `> ${event.goal_achieved ? "goal achieved" : "not yet"}: ${plainMarkdown(event.content === "" ? event.progress : event.content, 500)}`;
    case "inbox.opened":
      return `? ${codeSpan(event.id)} ${plainMarkdown(event.title, 200)}`;
    case "inbox.context":
      return `? ${codeSpan(event.id)} asked back: ${plainMarkdown(event.question, 500)}\n\n> ${plainMarkdown(inertLine(event.answer), 2000)}`;
    case "inbox.closed":
      return `! ${codeSpan(event.id)} ${plainMarkdown(event.decision, 20)} by ${plainMarkdown(event.by, 20)}${event.text === "" ? "" : `: ${plainMarkdown(event.text, 500)}`}`;
    case "task.completed":
      return taskEnd(event);
    case "agent.compacted":
      return `*the conversation was shortened from ${number(event.tokens_before)} to ${number(event.tokens_after)} tokens*`;
    case "warning":
      return `*warning: ${plainMarkdown(event.message, 500)}*`;
    default:
      return "";
  }
}

function childEnd(event: Extract<CruEvent, { type: "agent.completed" }>): string {
  const link = event.file === undefined ? plainMarkdown(event.agent, 80) : wikilink(event.file.replace(/\.md$/, ""));
  const how = `${event.status} (${number(event.duration_ms)} ms, ${number(event.tokens.input + event.tokens.output)} tok)`;
  const said = event.error === null ? plainMarkdown(summaryLine(event.summary)) : failure(event.error);
  return `${event.error === null && (event.status === "completed" || event.status === "partial") ? "✓" : "✗"} ${link} ${plainMarkdown(how)}${said === "" ? "" : `\n\n  ${said}`}`;
}

function taskEnd({ status, reason, branch, changed_files }: Extract<CruEvent, { type: "task.completed" }>): string {
  const where = branch === null ? "in place" : `on ${codeSpan(branch)}`;
  const files = changed_files.slice(0, 50).map((file) => `- ${codeSpan(file, 200)}`);
  const more = changed_files.length > 50 ? [`- … ${changed_files.length - 50} more`] : [];
  return [`**${plainMarkdown(status, 40)}** ${where}, ${changed_files.length} changed ${changed_files.length === 1 ? "file" : "files"}${reason === null ? "" : `: ${plainMarkdown(reason, 500)}`}`, [...files, ...more].join("\n")].filter((part) => part !== "").join("\n\n");
}

function failure(error: { type: string; message: string }): string {
  return `${plainMarkdown(error.type, 80)}: ${plainMarkdown(error.message, 500)}`;
}

function planLine(task: PlanTask): string {
  const agent = task.agent === null ? "" : ` (${plainMarkdown(task.agent, 80)})`;
  return `- [${task.status === "done" ? "x" : " "}] ${plainMarkdown(inertLine(task.description), 300)}${agent}${["pending", "done"].includes(task.status) ? "" : `, ${task.status}`}`;
}

function number(n: number): string {
  return Math.max(0, Math.round(n)).toLocaleString("en-US");
}
