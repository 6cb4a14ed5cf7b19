import { closeSync, fstatSync, mkdtempSync, openSync, readSync, realpathSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { CruError } from "../contract/error.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { writeAll } from "../lib/atomic-write.ts";
import { refuseHiddenProtected } from "../lib/protected-path.ts";
import { type PathFault, withFile, writeInside } from "../lib/safe-path.ts";
import { runSandboxed } from "../sandbox/run-sandboxed.ts";
import type { Bind } from "../sandbox/spec.ts";
import { DATABASE_SCRIPT, type DatabaseAnswer, type DatabaseJob } from "./database-script.ts";
import { pathError } from "./path-error.ts";

export type DatabaseDeps = { sandbox: Pick<Settings["sandbox"], "mode">; home: string; timeMs?: number };
type Call = { workspace: string; path: string; sql: string; signal: AbortSignal };

const MOST_COPIED = 2 ** 30;
const TIME_MS = 30_000;

/** Runs SQL on a file of the workspace in a child that sees that file and nothing else of the workspace. */
export async function runDatabase(kind: "query" | "execute", call: Call, deps: DatabaseDeps): Promise<DatabaseAnswer> {
  const created = kind === "execute" && writeInside(call.workspace, call.path, "", { onlyNew: true, refuse: refuseHiddenProtected(call.workspace, call.path) }).ok;
  const main = databaseFile(call);
  if (!main.ok) return main;
  const root = realpathSync(call.workspace);
  const made = kind === "execute" ? [...makeCompanions(root, main), ...(created ? [main.path] : [])] : [];
  const files = [main.path, ...COMPANIONS.map((end) => main.path + end)].flatMap((path) => identified(root, path));
  // Where there is no sandbox the files are where they are.
  const inside = (path: string): string => (deps.sandbox.mode === "required" ? join("/tmp/database", basename(path)) : join(root, path));
  const binds = files.map(({ path }): Bind => ({ from: join(root, path), to: inside(path), writable: kind === "execute" }));
  const expected = Object.fromEntries(files.map(({ path, id }) => [inside(path), id]));
  try {
    return await inChild({ kind, file: inside(main.path), expected, sql: call.sql }, binds, call.signal, deps);
  } finally {
    for (const path of made) if (statSync(join(root, path), { throwIfNoEntry: false })?.size === 0 || path.endsWith("-shm")) rmSync(join(root, path), { force: true });
  }
}

/** What the SQL would change, tried on a copy. */
export async function tryOnCopy(call: Call, deps: DatabaseDeps): Promise<DatabaseAnswer> {
  const main = databaseFile(call);
  const folder = mkdtempSync(join(tmpdir(), "cru-database-"));
  try {
    for (const name of ["before.db", "after.db"]) {
      // A database that does not exist yet is an empty file.
      if (main.ok) for (const end of ["", "-wal"]) copyInto(call.workspace, main.path + end, join(folder, name + end));
      else if (main.code !== "missing") return main;
      else closeSync(openSync(join(folder, name), "wx", 0o600));
    }
    const files: Bind[] = [{ from: folder, to: folder, writable: true }];
    return await inChild({ kind: "preview", file: join(folder, "after.db"), before: join(folder, "before.db"), expected: {}, sql: call.sql }, files, call.signal, deps);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files that SQLite keeps beside a database: what they hold is part of it. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

type Found = { ok: true; path: string; wal: boolean } | (Extract<DatabaseAnswer, { ok: false }> & { code: PathFault["code"] | "not_a_database" });

function databaseFile(call: Pick<Call, "workspace" | "path">): Found {
  const read = withFile(call.workspace, call.path, (file, stat, path) => {
    const head = Buffer.alloc(20);
    const length = readSync(file, head, 0, 20, 0);
    const isDatabase = stat.size === 0 || (length === 20 && head.subarray(0, 16).toString("latin1") === "SQLite format 3\0");
    return { ok: true as const, path, isDatabase, wal: head[18] === 2 };
  });
  if (!read.ok) return { ok: false, code: read.code, message: pathError(read, call.workspace, call.path).output };
  return read.isDatabase ? read : { ok: false, code: "not_a_database", message: `${call.path} is not an SQLite database` };
}

/** SQLite makes these itself, but a mount must exist before; they stay on the disk, so that a killed child loses nothing. */
function makeCompanions(root: string, main: { path: string; wal: boolean }): string[] {
  const ends = main.wal ? ["-wal", "-shm"] : ["-journal"];
  return ends.map((end) => main.path + end).filter((path) => writeInside(root, path, "", { onlyNew: true }).ok);
}

function identified(root: string, path: string): { path: string; id: string }[] {
  const id = withFile(root, path, (file) => {
    const stat = fstatSync(file, { bigint: true });
    return `${stat.dev}:${stat.ino}`;
  });
  return typeof id === "string" ? [{ path, id }] : [];
}

function copyInto(workspace: string, from: string, to: string): void {
  withFile(workspace, from, (file, stat) => {
    if (stat.size > MOST_COPIED) throw new CruError("failed", `${from} is larger than ${MOST_COPIED / 2 ** 30} GB; it cannot be tried on a copy`);
    const target = openSync(to, "wx", 0o600);
    const buffer = Buffer.alloc(1 << 20);
    try {
      for (let at = 0, count = -1; count !== 0; at += count) {
        count = readSync(file, buffer, 0, buffer.length, at);
        writeAll(target, buffer.subarray(0, count));
      }
    } finally {
      closeSync(target);
    }
  });
}

async function inChild(job: Omit<DatabaseJob, "libsql">, binds: readonly Bind[], signal: AbortSignal, deps: DatabaseDeps): Promise<DatabaseAnswer> {
  const libsql = realpathSync(createRequire(import.meta.url).resolve("libsql"));
  const modules = libsql.slice(0, libsql.lastIndexOf(`${sep}node_modules${sep}`) + `${sep}node_modules`.length);
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "cru-empty-")));
  try {
    const result = await runSandboxed(
      { workspace, writable: false, home: deps.home, binds: [{ from: modules }, ...binds] },
      [process.execPath, "--max-old-space-size=512", "-e", DATABASE_SCRIPT],
      { mode: deps.sandbox.mode, input: JSON.stringify({ ...job, libsql }), timeoutMs: deps.timeMs ?? TIME_MS, signal, maxBytes: 4 * 2 ** 20 },
    );
    if (result.timedOut) return { ok: false, message: `it took longer than ${(deps.timeMs ?? TIME_MS) / 1000} s and was ended` };
    if (result.aborted) return { ok: false, message: "interrupted" };
    return parse(result.stdout) ?? { ok: false, message: `the database program ended without an answer (${result.signal ?? result.code})` };
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function parse(text: string): DatabaseAnswer | undefined {
  try {
    return JSON.parse(text) as DatabaseAnswer;
  } catch {
    return undefined;
  }
}
