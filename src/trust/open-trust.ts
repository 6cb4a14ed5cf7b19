import type { Env, Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { readManifest } from "./manifest.ts";
import { isOwn, nameInProject } from "./places.ts";
import { scanProject } from "./scan.ts";

export type TrustChange = { path: string; kind: "added" | "changed" | "removed" };

export type Trust = {
  /** `hash` is the sha-256 (hex) over exactly the bytes that will be used. */
  isTrusted(path: string, hash: string): boolean;
  /** Everything that is there now may be used. Reads the project's definitions when it is first asked. */
  readonly projectTrusted: boolean;
  /** What is different from what was trusted; paths are relative to the project. */
  changes(): TrustChange[];
};

/** Costs one small file; nothing of the project is read before `changes` or `projectTrusted` is asked. */
export function openTrust(paths: Paths, env: Env, flags: { trust?: boolean | undefined } = {}): Trust {
  const files = readManifest(paths)?.files ?? new Map<string, string>();
  const everything = flags.trust === true || env.CRU_TRUST === "1" || env.CRU_TRUST === "true";
  const changes = (): TrustChange[] => compare(files, paths);
  let complete: boolean | undefined;
  return {
    isTrusted(path, hash) {
      if (everything || isOwn(path, paths)) return true;
      const name = files.size === 0 ? undefined : nameInProject(path, paths.root);
      return name !== undefined && files.get(name) === hash;
    },
    get projectTrusted() {
      complete ??= everything || changes().every((change) => change.kind === "removed");
      return complete;
    },
    changes,
  };
}

/** For what is about to be used: passes, or ends the command with exit code 4. */
export function requireTrusted(trust: Pick<Trust, "isTrusted">, definition: { path: string; hash: string; what: string }): void {
  if (trust.isTrusted(definition.path, definition.hash)) return;
  throw new CruError("untrusted", `${definition.what} comes from this project and you have not trusted it in its present form`, {
    hint: "look at it and allow it with `cru trust`, or give `--trust` for this one command",
  });
}

function compare(trusted: ReadonlyMap<string, string>, paths: Paths): TrustChange[] {
  const present = new Map(scanProject(paths).files.map((file) => [file.name, file.sha256]));
  const changes: TrustChange[] = [];
  for (const [path, hash] of present) {
    const before = trusted.get(path);
    if (before !== hash) changes.push({ path, kind: before === undefined ? "added" : "changed" });
  }
  for (const path of trusted.keys()) if (!present.has(path)) changes.push({ path, kind: "removed" });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}
