import type { TaskEnd } from "../../app/task/task.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import type { ChangedFile } from "../../worktree/changes.ts";
import { diffLine } from "../chat/highlight.ts";
import { paint } from "../chat/line.ts";
import type { CommandInput } from "../command.ts";
import { cost, count } from "../figures.ts";

/** A diff up to here is shown whole. */
const SHOWN_LINES = 80;
const SHOWN_FILES = 40;

/** What a person reads when a task has ended: what came of it on stdout, what is wrong and what to do on stderr. */
export function endText(end: TaskEnd, input: Pick<CommandInput, "io" | "env">): void {
  const { io } = input;
  if (end.summary !== "") io.out(`${inert(end.summary).trim()}\n\n`);
  io.out(workText(end, io.outIsTerminal && (input.env.NO_COLOR ?? "") === "" && input.env.TERM !== "dumb"));
  io.out(`${figures(end)}\n`);
  if (end.error !== null) io.err(`✗ ${end.status === "blocked" ? "blocked" : end.status}: ${inert(end.error.message)}\n`);
  if (end.inboxId !== null) io.err(`? a person is needed: \`cru inbox show ${end.inboxId}\`\n`);
  if (end.hint !== "") io.err(`  → ${inert(end.hint)}\n`);
  if (end.status === "completed") io.err(nextSteps(end));
}

/** As `--json` prints it. */
export function endJson(end: TaskEnd): Record<string, unknown> {
  return {
    bead_id: end.beadId, session_id: end.sessionId, status: end.status, reason: end.reason ?? null, summary: end.summary, outputs: end.output?.outputs ?? {}, error: end.error, hint: end.hint,
    inbox_id: end.inboxId, reset_at: end.resetAt, branch: end.branch, base: end.base, commit: end.commit,
    changed_files: end.files.map(({ path, status, from, added, deleted }) => ({ path, status, from: from ?? null, added: added ?? null, deleted: deleted ?? null })),
    runner: end.runner, runner_version: end.version, external_session: end.externalSession, tokens: end.tokens, cost_usd: end.costUsd, cost_estimated: end.costEstimated,
    duration_ms: end.durationMs,
  };
}

function workText(end: TaskEnd, colour: boolean): string {
  const where = end.branch === null ? "in place" : `on ${end.branch}`;
  if (end.files.length === 0) return `No files were changed ${where}.\n`;
  const [added, deleted] = [sum(end.files, "added"), sum(end.files, "deleted")];
  const shown = end.files.slice(0, SHOWN_FILES);
  const width = Math.max(...shown.map((file) => inertLine(file.path, 60).length));
  const rows = shown.map((file) => `  ${LETTERS[file.status]} ${inertLine(file.path, 60).padEnd(width)}  ${lines(file)}`.trimEnd());
  const more = end.files.length > SHOWN_FILES ? [`  … ${end.files.length - SHOWN_FILES} more`] : [];
  const head = `${end.files.length} ${end.files.length === 1 ? "file" : "files"} changed ${where}: +${count(added)} −${count(deleted)}`;
  return `${[head, ...rows, ...more].join("\n")}\n${diffText(end, colour)}`;
}

const LETTERS: Record<ChangedFile["status"], string> = { added: "A", modified: "M", deleted: "D", renamed: "R" };

function lines({ added, deleted }: ChangedFile): string {
  return added === undefined ? "binary" : `+${count(added)} −${count(deleted ?? 0)}`;
}

function sum(files: readonly ChangedFile[], key: "added" | "deleted"): number {
  return files.reduce((all, file) => all + (file[key] ?? 0), 0);
}

function diffText(end: TaskEnd, colour: boolean): string {
  const text = inert(end.diff).trimEnd().split("\n");
  if (end.diffTruncated || text.length > SHOWN_LINES) return "";
  return `\n${text.map((line) => paint(diffLine(line), colour)).join("\n")}\n\n`;
}

function figures(end: TaskEnd): string {
  const money = `${cost(end.costUsd)}${end.costEstimated ? " estimated" : ""}`;
  const who = `${end.runner}${end.version === null ? "" : ` ${inertLine(end.version, 40)}`}`;
  return `${end.beadId} · ${who} · ${(end.durationMs / 1000).toFixed(1)} s · ${count(end.tokens.input + end.tokens.output)} tok · ${money} · session ${end.sessionId}`;
}

function nextSteps(end: TaskEnd): string {
  const range = end.branch === null ? end.base.slice(0, 12) : `${end.base.slice(0, 12)}..${end.branch}`;
  const changed = [
    ["look", `git diff ${range}`],
    end.branch === null ? ["undo", `git restore --source=${end.base.slice(0, 12)} -- . ':!.beads'`] : ["take it", `git merge ${end.branch}`],
  ];
  const steps = [...(end.files.length === 0 ? [] : changed), ["what happened", `cru sessions show ${end.sessionId}`]];
  return `Next:\n${steps.map(([what = "", command = ""]) => `  ${what.padEnd(14)} ${command}`).join("\n")}\n`;
}
