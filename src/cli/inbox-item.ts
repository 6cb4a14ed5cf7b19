import { kindOfSession } from "../app/resume-command.ts";
import type { Paths } from "../config/paths.ts";
import type { InboxItem } from "../inbox/list-inbox.ts";
import { inert, inertLine } from "../lib/inert.ts";

/** An inbox item as `--json` prints it. */
export function itemRow(item: InboxItem): Record<string, unknown> {
  const { id, kind, title, body, session_id, workflow_id, trace_id, agent, action, action_hash, reversible, confirm_word, options, created_at, reason, impact, grant } = item.question;
  return {
    id, kind, status: item.status, title, body, session_id, workflow_id: workflow_id ?? null, trace_id, agent, action, action_hash, reversible,
    confirm_word, options, created_at, time_left_ms: item.timeLeftMs, awaited: item.awaited, answer: item.answer ?? null,
    reason, impact, grant, revoked: item.revoked, talk: item.talk,
  };
}

/** All of an item, for a person. Everything in it is foreign text. */
export function itemText(item: InboxItem): string {
  const { question } = item;
  const numbered = withNumbers(question.body, question.options);
  const lines = [
    `${question.id}  ${question.kind}  ${item.status}`,
    `  ${inertLine(question.title)}`,
    `  asked by ${inertLine(question.agent)} in ${inertLine(question.session_id)} at ${inertLine(question.created_at)}`,
    ...actionLines(item),
    ...bodyLines(numbered ?? question.body),
  ];
  if (numbered === undefined) question.options.forEach((option, i) => lines.push(`  ${i + 1}. ${inertLine(option)}`));
  for (const { text, told } of item.talk) lines.push(`  you asked: ${inertLine(text)}`, ...(told === null ? "not answered yet" : inert(told)).split("\n").map((line) => `    ${line}`));
  lines.push(...(item.status === "pending" ? decideLines(item) : answerLines(item)));
  return `${lines.join("\n")}\n`;
}

/** A body that explains every option as `- option: …` gets their numbers instead of a second list; undefined for any other. */
function withNumbers(body: string, options: readonly string[]): string | undefined {
  const lines = body.split("\n");
  const places = options.map((option) => lines.findIndex((line) => line === `- ${option}` || line.startsWith(`- ${option}: `)));
  if (options.length === 0 || places.includes(-1) || new Set(places).size < places.length) return undefined;
  return lines.map((line, i) => (places.includes(i) ? `${places.indexOf(i) + 1}. ${line.slice(2)}` : line)).join("\n");
}

/** One parameter a line; what is long is cut, because the body shows it better and `--json` has all of it. */
function actionLines({ question: { action, reversible, confirm_word } }: InboxItem): string[] {
  const lines: string[] = [];
  if (action !== null) {
    lines.push(`  action: ${inertLine(action.tool)}`);
    const input = typeof action.input === "object" && action.input !== null ? Object.entries(action.input) : [["input", action.input]];
    for (const [name, value] of input) lines.push(`    ${inertLine(String(name), 64)}: ${cut(typeof value === "string" && !value.includes("\n") ? value : (JSON.stringify(value) ?? ""))}`);
  }
  if (!reversible) lines.push(`  irreversible, it cannot be undone: approve it with --confirm ${inertLine(confirm_word ?? "")}`);
  else if (action !== null) lines.push("  reversible: yes");
  return lines;
}

const LONGEST = 100;

function cut(value: string): string {
  const line = inertLine(value);
  return line.length <= LONGEST ? line : `${inertLine(value, LONGEST)} (${value.length} characters)`;
}

function bodyLines(body: string): string[] {
  return body.trim() === "" ? [] : ["", ...inert(body).trimEnd().split("\n").map((line) => `  ${line}`.trimEnd()), ""];
}

function decideLines(item: InboxItem): string[] {
  const { question, timeLeftMs, awaited } = item;
  const lines: string[] = [];
  if (timeLeftMs !== null) lines.push(`  time left: ${Math.ceil(timeLeftMs / 1000)} s${awaited ? "" : ", standing still while nobody waits"}; then: ${question.on_timeout}`);
  if (question.grant !== null) lines.push(`  with --session it also allows: ${inertLine(question.agent, 64)}: ${inertLine(question.grant, 200)}`);
  const decides = question.kind !== "question" && question.kind !== "guidance";
  const answer = decides ? `\`cru inbox approve ${question.id}\` or \`cru inbox deny ${question.id} --reason TEXT\`` : `\`cru inbox answer ${question.id} TEXT\``;
  return [...lines, `  → ${answer}${decides ? `; \`cru inbox ask ${question.id} TEXT\` asks back first` : ""}`];
}

function answerLines({ question, answer, revoked }: InboxItem): string[] {
  if (answer === undefined) return [];
  const lines = [`  ${answer.status}: ${answer.decision} by ${answer.by} at ${inertLine(answer.answered_at)}${answer.text === "" ? "" : `: ${inertLine(answer.text)}`}`];
  if (answer.scope === "session") lines.push(`  allowed for the session: ${inertLine(question.grant ?? "", 200)}${revoked ? " (revoked)" : `; take it back with \`cru inbox revoke ${question.id}\``}`);
  if (Object.keys(answer.set).length > 0) lines.push(`  changed: ${inertLine(JSON.stringify(answer.set))}`);
  return lines;
}

/** How the work goes on when no live process waits for the answer. */
export async function nextCommand({ question }: InboxItem, paths: Pick<Paths, "project">): Promise<string> {
  const { workflow_id, session_id } = question;
  if (workflow_id !== undefined) return `cru workflows resume ${inertLine(workflow_id)}`;
  return `cru ${await kindOfSession(paths, session_id)} --resume ${inertLine(session_id)}`;
}
