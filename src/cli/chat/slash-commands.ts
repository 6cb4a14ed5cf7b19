import type { ChatSession } from "../../app/chat/chat-session.ts";
import { CruError } from "../../contract/error.ts";
import { inertLine } from "../../lib/inert.ts";
import { didYouMean } from "../../lib/nearest.ts";
import { traceLines } from "../trace-lines.ts";
import { cost, count } from "../figures.ts";
import type { ChatState } from "./chat-state.ts";
import { type Line, line, span } from "./line.ts";
import { planLines } from "./plan-lines.ts";

export const SLASH: Record<string, string> = {
  "/model": "show the model, or change it: /model haiku",
  "/plan": "the plan as a checklist",
  "/cost": "tokens and money, agent by agent",
  "/trace": "which agent started which",
  "/inbox": "what waits for a person in this project",
  "/revoke": "what you allowed for this session; /revoke ID takes it back",
  "/help": "commands and keys",
  "/exit": "leave; the session is kept",
};

const KEYS: [string, string][] = [
  ["Enter", "send; while it works, steer it"],
  ["Alt+Enter, Ctrl-J, \\ Enter", "a new line"],
  ["↑ ↓", "what you said before; ↑ takes back what still waits"],
  ["Tab", "take the chosen command, model or @file"],
  ["Ctrl-A E W U K", "begin, end; delete a word, to the begin, to the end"],
  ["Esc", "stop the work; the conversation stays"],
  ["Ctrl-O", "open tool calls, newest first"],
  ["Ctrl-C twice, Ctrl-D", "leave"],
];

/** What a conversation in lines has instead of keys. */
const LINES: [string, string][] = [
  ["a line", "send; while it works, steer it"],
  ["approve, deny, ask", "answer a question of an agent"],
  ["Ctrl-C", "stop the work; again leaves"],
  ["Ctrl-D", "leave"],
];

export type SlashDeps = { chat: ChatSession; state: ChatState; width: number; plain?: true };
export type SlashResult = { lines: Line[]; leave?: true };

export function isSlash(text: string): boolean {
  return /^\/[a-z]+(?: .*)?$/.test(text.trim());
}

/** Commands of the chat itself; the agent never hears of them. */
export async function runSlash(text: string, deps: SlashDeps): Promise<SlashResult> {
  const [name = "", ...words] = text.trim().split(/\s+/);
  switch (name) {
    case "/help":
      return { lines: table([...Object.entries(SLASH), ...(deps.plain === true ? LINES : KEYS)]) };
    case "/exit":
    case "/quit":
      return { lines: [], leave: true };
    case "/plan":
      return { lines: deps.state.plan.length === 0 ? [line("  there is no plan now", "dim")] : planLines(deps.state.plan, deps.width) };
    case "/cost":
      return { lines: costLines(deps) };
    case "/trace":
      return { lines: trace(deps) };
    case "/inbox":
      return { lines: await inbox(deps) };
    case "/revoke":
      return { lines: revoke(words[0], deps) };
    case "/model":
      return { lines: await model(words[0], deps) };
    default:
      return { lines: [line(`  there is no ${inertLine(name, 40)}; ${didYouMean(name, Object.keys(SLASH))}`, "yellow")] };
  }
}

async function model(wanted: string | undefined, { chat }: SlashDeps): Promise<Line[]> {
  if (wanted !== undefined) {
    try {
      chat.useModel(wanted);
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      return [line(`  ✗ ${inertLine(error.message, 200)}`, "red"), ...(error.hint === undefined ? [] : [line(`    → ${inertLine(error.hint, 200)}`, "dim")])];
    }
  }
  const { model: now, modelSource } = chat.primary();
  return [[span(`  ${inertLine(now, 80)}`, "bold"), span(wanted === undefined ? `  (${modelSource})` : "  from the next message on", "dim")]];
}

function revoke(id: string | undefined, { chat }: SlashDeps): Line[] {
  if (id !== undefined) {
    try {
      return [line(chat.revoke(id) ? "  ✓ taken back; the next call of that kind asks again" : "  it was taken back before", "green")];
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      return [line(`  ✗ ${inertLine(error.message, 200)}`, "red")];
    }
  }
  const all = chat.metadata()?.approvals ?? [];
  const grants = all.filter((one) => one.scope === "session" && typeof one.revoked_at !== "string");
  if (grants.length === 0) return [line("  nothing is allowed for this session; approvals with s would be listed here", "dim")];
  return grants.map((one) => [span(`  ${one.id}  `, "bold"), span(inertLine(String(one.grant ?? ""), 200)), span(`  ${inertLine(String(one.agent ?? ""), 64)} · used ${all.filter((use) => use.id === one.id && use.by === "session").length}×`, "dim")]);
}

function costLines({ chat, state }: SlashDeps): Line[] {
  const trace = chat.metadata()?.trace ?? [];
  const rows = trace.map((t): [string, string] => [inertLine(t.agent, 40), `${count(t.tokens.input)} in · ${count(t.tokens.output)} out · ${cost(t.cost_usd)} · ${inertLine(t.model, 40)}`]);
  const budget = chat.project.settings.limits.budget_usd;
  const all = `${count(state.tokens)} tok · ${cost(state.costUsd)}${state.estimated ? " estimated" : ""}${budget === null ? "" : ` of ${cost(budget)}`}`;
  return table([...rows, ["all", all]]);
}

function trace({ chat }: SlashDeps): Line[] {
  const metadata = chat.metadata();
  if (metadata === undefined) return [line("  nothing has happened yet", "dim")];
  return traceLines({ metadata, status: metadata.status }).map((l) => line(`  ${l}`));
}

async function inbox({ chat }: SlashDeps): Promise<Line[]> {
  const items = await chat.inbox();
  if (items.length === 0) return [line("  nothing waits", "dim")];
  return items.map(({ question }) => [span(`  ${question.id}  `, "bold"), span(`${question.kind}  `), span(`${inertLine(question.title, 160)}  ${inertLine(question.session_id, 60)}`, "dim")]);
}

function table(rows: readonly (readonly [string, string])[]): Line[] {
  const width = Math.max(...rows.map(([a]) => a.length));
  return rows.map(([a, b]) => [span(`  ${a.padEnd(width)}  `, "bold"), span(b, "dim")]);
}
