import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type Check, finding } from "./check.ts";

const GB = 2 ** 30;

/** Worktrees live in the project, caches and trust in the user's folders; those may be different disks. */
export const diskCheck: Check = {
  id: "disk",
  look({ paths }) {
    const places = [{ id: "disk", path: paths.root }, { id: "disk.user", path: paths.user.state }];
    const found = places.map(({ id, path }) => {
      const { bavail, bsize } = statfsSync(existing(path));
      const free = (bavail * bsize) / GB;
      const where = id === "disk" ? "the project's disk" : "the disk of your own files";
      if (free < 0.1) return finding(id, "fail", `${where} is full (${free.toFixed(2)} GB free)`, "free some space");
      if (free < 2) return finding(id, "warn", `${where} has ${free.toFixed(1)} GB free; every agent works in a checkout of its own`, "free some space");
      return finding(id, "ok", `${Math.floor(free)} GB free on ${where}`);
    });
    return found.filter((f, i) => i === 0 || f.status !== "ok");
  },
};

/** Sessions, the inbox and worktrees live in the project, what is trusted in the user's folder. */
export const writableCheck: Check = {
  id: "writable",
  look({ paths }) {
    const mine = refusal(paths.user.state);
    const project = [paths.project.sessions, paths.project.inbox].map(refusal).find((found) => found !== undefined);
    return [
      project === undefined ? finding("writable", "ok", "this folder can be written") : finding("writable", "fail", `${project} cannot be written: sessions and the inbox live in the project`, `make it writable for you (ls -ld '${project}' shows whose it is), or work in a copy`),
      ...(mine === undefined ? [] : [finding("writable.user", "warn", `${mine} cannot be written: what you trust is kept there`, "make it writable, or name another place with XDG_STATE_HOME")]),
    ];
  },
};

/** The folder that would have to be written and cannot be. */
function refusal(path: string): string | undefined {
  const folder = existing(path);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return folder;
  }
}

function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}
