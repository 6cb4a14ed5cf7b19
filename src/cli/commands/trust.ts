import { trustHighlights } from "../../app/trust-highlights.ts";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { unifiedDiff } from "../../lib/diff.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import { acceptReview, type ReviewedFile, reviewTrust, revokeTrust, type TrustReview } from "../../trust/review-trust.ts";
import type { CommandInput, Io, Run } from "../command.ts";

const MOST_DIFF_LINES = 400;

export const run: Run = async (input) => {
  const { options, cwd, env, io } = input;
  const paths = findPaths(cwd, env);
  if (options.revoke === true) {
    const known = await revokeTrust(paths);
    if (options.json === true) printJson(reviewTrust(paths), io);
    else io.out(known ? "Forgotten: nothing of this project is trusted any more.\n" : "Nothing of this project was trusted.\n");
    return 0;
  }
  const review = reviewTrust(paths);
  if (options.json !== true) printReview(review, io);
  const accepted = review.trusted || options.yes === true || (await asked(input));
  if (accepted && !review.trusted) await acceptReview(paths, review);
  const now = accepted ? reviewTrust(paths) : review;
  if (options.json === true) {
    printJson(now, io);
    return accepted ? 0 : 4;
  }
  if (!accepted) throw new CruError("untrusted", "nothing was trusted", { hint: "`cru trust --yes` trusts exactly what is shown" });
  if (!review.trusted) io.out(`Trusted: ${count(now.files.filter((f) => f.status === "trusted").length)}, until one of them changes.\n`);
  return 0;
};

/** On a terminal the person is asked once; everywhere else the answer is no. */
async function asked({ options, io }: CommandInput): Promise<boolean> {
  if (options.json === true || options.input === false || !io.inIsTerminal || !io.errIsTerminal) return false;
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: "Use these files in this project?", initialValue: false, output: process.stderr });
  if (isCancel(answer)) throw new CruError("interrupted", "nothing was trusted");
  return answer;
}

function printJson(review: TrustReview, io: Io): void {
  const files = review.files.map(({ path, status, sha256, reason }) => ({ path, status, sha256, ...(reason === undefined ? {} : { reason }) }));
  io.out(`${JSON.stringify({ root: review.root, trusted: review.trusted, files })}\n`);
}

function printReview(review: TrustReview, io: Io): void {
  const [as, other] = [review.files.filter((f) => f.status === "trusted"), review.files.filter((f) => f.status !== "trusted")];
  if (other.length === 0) {
    io.out(as.length === 0 ? "This project has no definitions or settings of its own: there is nothing to trust.\n" : `Nothing has changed since you trusted this project (${count(as.length)}).\n`);
    return;
  }
  io.out(`What ${inertLine(review.root)} brings along, and what could change what runs:\n\n`);
  for (const file of other) io.out(describe(file));
  if (as.length > 0) io.out(`  as you trusted it: ${count(as.length)}\n`);
  io.out("\n");
}

function describe(file: ReviewedFile): string {
  const title = `  ${file.status.padEnd(7)}  ${inertLine(file.path)}${file.reason === undefined ? "" : `  (${inertLine(file.reason)}; never used)`}`;
  const highlights = file.content === undefined ? [] : trustHighlights(file.path, file.content).map((line) => inertLine(line, 300));
  return `${[title, ...[...highlights, ...(file.status === "changed" ? difference(file) : [])].map((line) => `             ${line}`)].join("\n")}\n`;
}

function difference({ content, before }: ReviewedFile): string[] {
  if (content === undefined || before === undefined) return ["(what was trusted before is no longer known)"];
  const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const diff = unifiedDiff(text(before), text(content), { from: "trusted", to: "now" }).split("\n").slice(0, -1);
  if (diff.length === 0) return ["(the bytes differ, the text does not)"];
  // Line by line, so that a carriage return at a line's end is seen too.
  const shown = diff.slice(0, MOST_DIFF_LINES).map((line) => inert(line));
  return diff.length > shown.length ? [...shown, `… and ${diff.length - shown.length} more lines: look at the file itself`] : shown;
}

function count(files: number): string {
  return `${files} ${files === 1 ? "file" : "files"}`;
}
