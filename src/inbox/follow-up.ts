import { existsSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { type FollowUp, followUpSchema } from "../contract/question.ts";
import { writing } from "../lib/disk-fault.ts";
import type { InboxDeps } from "./answer-question.ts";
import { readAnswer, readRecord, writeOnce } from "./question-file.ts";

export type Talk = { n: number; text: string; asked_at: string; told: string | null };

/** A person wants to know more before deciding. The item stays open; whoever owns the question answers beside it. */
export function askFollowUp(input: { id: string; text: string }, deps: InboxDeps): FollowUp {
  const folder = deps.paths.project.inbox;
  const text = input.text.trim();
  if (text === "") throw new CruError("usage", "the question is empty", { hint: `cru inbox ask ${input.id} "what else does it touch?"` });
  const closed = readAnswer(folder, input.id);
  if (closed !== undefined) throw new CruError("failed", `${input.id} is already ${closed.status}; nobody waits for you any more`, { hint: `see \`cru inbox show ${input.id}\`` });
  for (let n = readTalk(folder, input.id).length + 1; ; n++) {
    const followUp: FollowUp = { v: 1, id: input.id, n, text, at: deps.clock.now().toISOString() };
    if (writing(`the question about ${input.id}`, () => writeOnce(folder, askFile(folder, input.id, n), followUp))) return followUp;
  }
}

/** What was asked about an item and what the agent said, in order. */
export function readTalk(folder: string, id: string): Talk[] {
  const talk: Talk[] = [];
  for (let n = 1; ; n++) {
    const asked = readRecord(askFile(folder, id, n), followUpSchema);
    if (asked === undefined) return talk;
    talk.push({ n, text: asked.text, asked_at: asked.at, told: readRecord(toldFile(folder, id, n), followUpSchema)?.text ?? null });
  }
}

/** The first that has no answer yet. Cheap enough to be looked for while somebody waits. */
export function openFollowUp(folder: string, id: string): Talk | undefined {
  return existsSync(askFile(folder, id, 1)) ? readTalk(folder, id).find((one) => one.told === null) : undefined;
}

export function tellFollowUp(input: { id: string; n: number; text: string }, deps: InboxDeps): void {
  const folder = deps.paths.project.inbox;
  const told: FollowUp = { v: 1, ...input, at: deps.clock.now().toISOString() };
  writing(`the answer about ${input.id}`, () => writeOnce(folder, toldFile(folder, input.id, input.n), told));
}

function askFile(folder: string, id: string, n: number): string {
  return join(folder, `${id}.ask-${n}.json`);
}

function toldFile(folder: string, id: string, n: number): string {
  return join(folder, `${id}.told-${n}.json`);
}
