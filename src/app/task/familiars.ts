import { join } from "node:path";
import { type Env, findPaths, type Paths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { SessionStatus } from "../../contract/session.ts";
import { systemClock } from "../../lib/clock.ts";
import { nearest } from "../../lib/nearest.ts";
import { isAlive } from "../../lib/owner.ts";
import { followEvents } from "../../session/follow-events.ts";
import { listSessions } from "../../session/list-sessions.ts";
import { recordInterruption } from "../../session/open-session.ts";
import { readSession, type ReadSession } from "../../session/read-session.ts";
import { openRepository } from "../../worktree/repository.ts";
import { openBeads } from "../beads.ts";
import { openProject } from "../chat/open-chat.ts";
import { requestStop } from "./stop-requests.ts";
import { blockBead } from "./task-bead.ts";
import { openWorktreePlace } from "./workplace.ts";

export const FAMILIAR_STATUSES = ["working", "waiting", "complete", "failed", "blocked"] as const;

/** One agent at work on one bead, as its newest session tells it. */
export type Familiar = { beadId: string; status: (typeof FAMILIAR_STATUSES)[number]; session: ReadSession };

const LOOKED_AT = 500;
/** An agent gets ten seconds to end, and its work has to be committed. */
const STOPS_WITHIN_MS = 120_000;
const STATUS: Record<SessionStatus, Familiar["status"]> = {
  running: "working", waiting: "waiting", completed: "complete", failed: "failed", blocked: "blocked", cancelled: "blocked", interrupted: "blocked",
};

/** The newest of each bead, newest first. */
export async function listFamiliars(paths: Paths): Promise<Familiar[]> {
  const { sessions } = await listSessions(paths, { limit: LOOKED_AT });
  const found = new Map<string, Familiar>();
  for (const session of sessions) {
    const beadId = session.metadata.task?.bead_id;
    if (beadId !== undefined && !found.has(beadId)) found.set(beadId, { beadId, status: STATUS[session.status], session });
  }
  return [...found.values()];
}

export async function findFamiliar(paths: Paths, beadId: string): Promise<Familiar> {
  const all = await listFamiliars(paths);
  const found = all.find((one) => one.beadId === beadId || one.session.id === beadId);
  if (found !== undefined) return found;
  const near = nearest(beadId, all.map((one) => one.beadId));
  throw new CruError("not_found", `nobody has worked on '${beadId}'`, { hint: near === undefined ? "cru familiars list --all shows who has" : `did you mean '${near}'?` });
}

/** What it did, from the record; with `follow`, until it has ended. */
export function outputOf({ session }: Familiar, options: { follow: boolean }): AsyncGenerator<CruEvent> {
  return followEvents(join(session.folder, "events.jsonl"), async () => options.follow && (await hasOwner(session.folder)));
}

/** Asks its owner to stop and waits until it has; what a dead owner left is put in order here. */
export async function stopFamiliar(beadId: string, input: { cwd: string; env: Env; trust: boolean }, warn: (message: string) => void): Promise<Familiar> {
  const paths = findPaths(input.cwd, input.env);
  const familiar = await findFamiliar(paths, beadId);
  const { folder, metadata } = familiar.session;
  if (await hasOwner(folder)) {
    requestStop(paths, familiar.beadId);
    const deadline = performance.now() + STOPS_WITHIN_MS;
    while (await hasOwner(folder)) {
      if (performance.now() > deadline) throw new CruError("locked", `process ${metadata.owner?.pid ?? "unknown"} was asked to stop ${familiar.beadId} and has not ended`, { hint: "it may still do so; cru familiars list shows it" });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } else if (metadata.status === "running" || (metadata.status === "waiting" && metadata.owner !== null)) await clearUp(familiar, input, warn);
  else throw new CruError("not_found", `nobody works on ${familiar.beadId} now (${familiar.status})`, { hint: "cru familiars list shows who does" });
  return findFamiliar(paths, familiar.beadId);
}

async function hasOwner(folder: string): Promise<boolean> {
  const { session } = await readSession(folder);
  const owner = session?.metadata.owner ?? null;
  return owner !== null && (await isAlive(owner));
}

/** Its process was killed: the session says so, its work is committed, and the bead is free for somebody to look at. */
async function clearUp({ beadId, session }: Familiar, input: { cwd: string; env: Env; trust: boolean }, warn: (message: string) => void): Promise<void> {
  const { paths, settings } = await openProject({ ...input, agent: undefined, model: undefined, allow: [], deny: [], maxIterations: undefined, budgetUsd: undefined });
  await recordInterruption(session.id, { paths, env: input.env, clock: systemClock, warn });
  const store = openBeads(paths);
  const bead = await store.get(beadId);
  if (bead === undefined) return;
  if (session.metadata.task?.in_place === false) {
    const repository = await openRepository({ root: paths.root, gitDir: paths.gitDir, worktrees: paths.project.worktrees, env: input.env });
    const place = await openWorktreePlace(bead, { repository, settings: { ...settings, worktrees: { ...settings.worktrees, setup: "none" } }, paths, env: input.env, warn, say: () => {} });
    for (const warning of (await place.secure({ subject: bead.title, session: session.id })).warnings) warn(warning);
  }
  await blockBead(bead, { reason: "it was stopped after its process had died", sessionId: session.id, needsHuman: false }, { store, clock: systemClock });
}
