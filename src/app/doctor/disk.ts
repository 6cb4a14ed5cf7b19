import { existsSync, statfsSync } from "node:fs";
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

function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}
