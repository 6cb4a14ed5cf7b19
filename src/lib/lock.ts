import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { CruError } from "../contract/error.ts";
import { atomicWrite } from "./atomic-write.ts";
import { currentOwner } from "./owner.ts";

export type Lock = { release(): void };

/**
 * Held until `release` or the end of this process, however it ends: the kernel frees it, so there is no stale lock.
 * Nothing else in this process may open `path`: closing any descriptor of the file would free the lock.
 */
export async function acquireLock(path: string, what: string, hint?: string): Promise<Lock> {
  mkdirSync(dirname(path), { recursive: true });
  const { default: Database } = await import("libsql");
  const database = new Database(path, { timeout: 0 });
  try {
    // Nothing is ever written; small pages make the connection half as large in memory.
    database.exec("PRAGMA page_size=512");
    // Without a journal on disk nothing is left behind that a later owner would have to roll back.
    database.exec("PRAGMA journal_mode=MEMORY");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") throw heldBy(path, what, hint);
    throw error;
  }
  try {
    atomicWrite(holderFile(path), `${JSON.stringify(await currentOwner())}\n`, { mode: 0o600, sync: false });
  } catch (error) {
    database.close();
    throw error;
  }
  let held = true;
  return {
    release() {
      if (held) database.close();
      held = false;
    },
  };
}

/** Beside the lock, only for the message. */
function holderFile(path: string): string {
  return `${path}.pid`;
}

function heldBy(path: string, what: string, hint = "wait until it ends, or stop it"): CruError {
  let pid: unknown;
  try {
    pid = (JSON.parse(readFileSync(holderFile(path), "utf8")) as { pid?: unknown }).pid;
  } catch {
    // It has just been taken.
  }
  const holder = typeof pid === "number" ? `process ${pid}` : "another process";
  return new CruError("locked", `${what} is in use by ${holder}`, { hint });
}
