import { existsSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { writing } from "../lib/disk-fault.ts";
import type { InboxDeps } from "./answer-question.ts";
import { readAnswer, readQuestion, writeOnce } from "./question-file.ts";

/** Takes back what was allowed for a session; the next call of that kind asks again. False when that was done before. */
export function revokeGrant(id: string, deps: InboxDeps): boolean {
  const folder = deps.paths.project.inbox;
  const question = readQuestion(folder, id);
  const answer = readAnswer(folder, id);
  if (question === undefined) throw new CruError("not_found", `there is no question '${id}'`, { hint: "see `cru inbox list`" });
  if (answer?.decision !== "approve" || answer.scope !== "session") {
    throw new CruError("usage", `${id} did not allow anything for its session`, { hint: "only `cru inbox approve ID --session` can be revoked" });
  }
  return writing(`the revocation of ${id}`, () => writeOnce(folder, revokedFile(folder, id), { v: 1, id, at: deps.clock.now().toISOString() }));
}

export function isRevoked(folder: string, id: string): boolean {
  return existsSync(revokedFile(folder, id));
}

function revokedFile(folder: string, id: string): string {
  return join(folder, `${id}.revoked.json`);
}
