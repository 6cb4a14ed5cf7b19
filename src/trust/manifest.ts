import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { checksum } from "../lib/checksum.ts";
import { randomName, sha256 } from "../lib/sha256.ts";

/** `manifest.json`: which bytes of which files of one project the user has allowed. */
export type Manifest = { files: Map<string, string>; trustedAt: string };

const SHA256 = /^[0-9a-f]{64}$/;

/** Plain checks instead of a schema: this runs on every start. Whatever is not exactly a manifest of this project trusts nothing. */
export function readManifest(paths: Paths): Manifest | undefined {
  try {
    const raw: unknown = JSON.parse(readFileSync(join(trustFolder(paths), "manifest.json"), "utf8"));
    if (!isRecord(raw) || raw.v !== 1 || raw.root !== paths.root || typeof raw.trusted_at !== "string" || !isRecord(raw.files)) return undefined;
    const files = new Map<string, string>();
    for (const [path, hash] of Object.entries(raw.files)) {
      if (typeof hash !== "string" || !SHA256.test(hash)) return undefined;
      files.set(path, hash);
    }
    return { files, trustedAt: raw.trusted_at };
  } catch {
    return undefined;
  }
}

/** Keeps the trusted bytes too, so that a later change can be shown as a diff. */
export function writeManifest(paths: Paths, files: ReadonlyMap<string, string>, contents: readonly Uint8Array[], now = new Date()): void {
  const folder = trustFolder(paths);
  const blobs = join(folder, "blobs");
  mkdirSync(blobs, { recursive: true, mode: 0o700 });
  // The mode above is cut by the umask and does not change folders that are already there.
  for (const path of [paths.user.trust, folder, blobs]) chmodSync(path, 0o700);
  for (const content of contents) keepBlob(blobs, content);
  const manifest = { v: 1, root: paths.root, trusted_at: now.toISOString(), files: Object.fromEntries([...files].sort(byName)) };
  atomicWrite(join(folder, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, folderMode: 0o700 });
  const used = new Set(files.values());
  // A name that is no hash is another process's unfinished blob.
  for (const name of readdirSync(blobs)) if (SHA256.test(name) && !used.has(name)) rmSync(join(blobs, name), { force: true });
}

export function forgetManifest(paths: Paths): boolean {
  const folder = trustFolder(paths);
  if (!existsSync(folder)) return false;
  // The manifest goes first: a removal that is cut off must not leave anything trusted.
  rmSync(join(folder, "manifest.json"), { force: true });
  rmSync(folder, { recursive: true, force: true });
  return true;
}

/** What was trusted under this hash; undefined when it is gone or damaged. */
export function readBlob(paths: Paths, hash: string): Uint8Array | undefined {
  try {
    const content = readFileSync(join(trustFolder(paths), "blobs", hash));
    return sha256(content) === hash ? content : undefined;
  } catch {
    return undefined;
  }
}

export function trustFolder(paths: Paths): string {
  return join(paths.user.trust, checksum(Buffer.from(paths.root)));
}

/** Not synced: a blob that is lost or torn only costs a diff. */
function keepBlob(blobs: string, content: Uint8Array): void {
  const path = join(blobs, sha256(content));
  if (existsSync(path)) return;
  const temporary = `${path}.${randomName()}`;
  writeFileSync(temporary, content, { flag: "wx", mode: 0o600 });
  renameSync(temporary, path);
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
