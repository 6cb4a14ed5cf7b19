import { mkdirSync } from "node:fs";
import type { Paths } from "../config/paths.ts";
import { withLock } from "../lib/with-lock.ts";
import { trustFolder } from "./manifest.ts";

/** For changes of a manifest, which begin by reading it: two at once would lose what one of them added. */
export function alone(paths: Paths, change: () => void): Promise<void> {
  mkdirSync(paths.user.trust, { recursive: true, mode: 0o700 });
  return withLock(`${trustFolder(paths)}.lock`, "what is trusted of this project", async () => change());
}
