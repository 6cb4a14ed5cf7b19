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
  const { question, answer } = item;
  const lines = [`${question.id}  ${question.kind}  ${item.status}`, `  ${inertLine(question.title)}`, `  asked by ${inertLine(question.agent)} in ${inertLine(question.session_id)} at ${inertLine(question.created_at)}`];
  if (question.action !== null) lines.push(`  action: ${inertLine(question.action.tool)} ${inertLine(JSON.stringify(question.action.input) ?? "", 2000)}`);
  if (question.action !== null && question.reversible) lines.push("  reversible: yes");
  if (!question.reversible) lines.push(`  irreversible, it cannot be undone: approve it with --confirm ${inertLine(question.confirm_word ?? "")}`);
  if (item.status === "pending" && question.grant !== null) lines.push(`  with --session it also allows: ${inertLine(question.agent, 64)}: ${inertLine(question.grant, 200)}`);
  if (item.status === "pending" && item.timeLeftMs !== null) {
    lines.push(`  time left: ${Math.ceil(item.timeLeftMs / 1000)} s${item.awaited ? "" : ", standing still while nobody waits"}; then: ${question.on_timeout}`);
  }
  question.options.forEach((option, i) => lines.push(`  ${i + 1}. ${inertLine(option)}`));
  if (question.body.trim() !== "") lines.push("", ...inert(question.body).split("\n").map((line) => `  ${line}`), "");
  for (const { text, told } of item.talk) lines.push(`  you asked: ${inertLine(text)}`, ...(told === null ? "not answered yet" : inert(told)).split("\n").map((line) => `    ${line}`));
  if (answer !== undefined) {
    lines.push(`  ${answer.status}: ${answer.decision} by ${answer.by} at ${inertLine(answer.answered_at)}${answer.text === "" ? "" : `: ${inertLine(answer.text)}`}`);
    if (answer.scope === "session") lines.push(`  allowed for the session: ${inertLine(question.grant ?? "", 200)}${item.revoked ? " (revoked)" : `; take it back with \`cru inbox revoke ${question.id}\``}`);
    if (Object.keys(answer.set).length > 0) lines.push(`  changed: ${inertLine(JSON.stringify(answer.set))}`);
  }
  return `${lines.join("\n")}\n`;
}

/** How the work goes on when no live process waits for the answer. */
export function nextCommand(item: InboxItem): string {
  const { workflow_id, session_id } = item.question;
  return workflow_id === undefined ? `cru chat --resume ${inertLine(session_id)}` : `cru workflows resume ${inertLine(workflow_id)}`;
}
