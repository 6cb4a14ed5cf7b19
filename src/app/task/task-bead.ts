import type { BeadStore } from "../../beads/bead-store.ts";
import { beadNotFound } from "../../beads/embedded-store.ts";
import type { Bead } from "../../contract/bead.ts";
import { CruError } from "../../contract/error.ts";
import type { Clock } from "../../lib/clock.ts";
import { inertLine } from "../../lib/inert.ts";

export const [DIRECT, UNMERGED, NEEDS_HUMAN] = ["direct", "unmerged", "needs-human"];

export type BeadInput = { text: string | undefined; beadId: string | undefined; acceptance: string | undefined };

/** The bead that was named, or a new one made of the words. */
export async function beadFor(input: BeadInput, store: BeadStore): Promise<Bead> {
  if (input.beadId !== undefined) return namedBead(input.beadId, input, store);
  const words = (input.text ?? "").trim();
  if (words === "") throw new CruError("usage", "task needs words or a bead", { hint: 'for example: cru task "make the failing test pass", or cru task --bead ID' });
  const { title, description } = split(words);
  return store.create({ title, issue_type: "task", labels: [DIRECT], ...(description === "" ? {} : { description }), ...(input.acceptance === undefined ? {} : { acceptance_criteria: input.acceptance }) });
}

/** Work begins: nobody else should take it, and what an earlier attempt asked for is no longer wanted. */
export function startBead(bead: Bead, store: BeadStore): Promise<Bead> {
  return store.update(bead.id, { status: "in_progress", removeLabels: [NEEDS_HUMAN] });
}

/** The work is on its branch, and somebody decides about it. */
export async function closeBead(bead: Bead, branch: string | null, store: BeadStore): Promise<void> {
  if (branch !== null) await store.update(bead.id, { addLabels: [UNMERGED] });
  await store.close(bead.id, { reason: branch === null ? "done in place, not committed" : `not merged, branch ${branch}` });
}

export type Blocked = { reason: string; sessionId: string; needsHuman: boolean };

/** What stopped it stands in the notes, where the next attempt and a person read it. */
export async function blockBead(bead: Bead, { reason, sessionId, needsHuman }: Blocked, deps: { store: BeadStore; clock: Pick<Clock, "now"> }): Promise<void> {
  const now = await deps.store.get(bead.id);
  const line = `${deps.clock.now().toISOString()} ${sessionId}: ${inertLine(reason, 500)}`;
  const notes = [now?.notes ?? "", line].filter((part) => part !== "").join("\n");
  await deps.store.update(bead.id, { status: "blocked", notes, ...(needsHuman ? { addLabels: [NEEDS_HUMAN] } : {}) });
}

async function namedBead(id: string, input: BeadInput, store: BeadStore): Promise<Bead> {
  const bead = await store.get(id);
  if (bead === undefined) throw beadNotFound(id, (await store.list()).items.map((one) => one.id));
  if (bead.status === "closed") throw new CruError("usage", `${bead.id} is closed${bead.close_reason === undefined ? "" : `: ${inertLine(bead.close_reason, 200)}`}`, { hint: `open it again with \`cru beads update ${bead.id} --status open\`` });
  const words = (input.text ?? "").trim();
  const change = {
    ...(words === "" ? {} : { description: [bead.description ?? "", words].filter((part) => part !== "").join("\n\n") }),
    ...(input.acceptance === undefined ? {} : { acceptance_criteria: [bead.acceptance_criteria ?? "", input.acceptance].filter((part) => part !== "").join("\n") }),
  };
  return Object.keys(change).length === 0 ? bead : store.update(bead.id, change);
}

const LONGEST_TITLE = 120;

/** The first line is the title; what does not fit there is the description. */
function split(words: string): { title: string; description: string } {
  const [first = "", ...rest] = words.split("\n");
  const title = inertLine(first, LONGEST_TITLE);
  const body = rest.join("\n").trim();
  return { title, description: title.endsWith("…") ? words : body };
}
