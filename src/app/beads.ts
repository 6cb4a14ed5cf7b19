import { join } from "node:path";
import type { BeadStore } from "../beads/bead-store.ts";
import { openEmbeddedStore } from "../beads/embedded-store.ts";
import type { Paths } from "../config/paths.ts";
import { systemClock } from "../lib/clock.ts";
import { ignoredFolder } from "../lib/ignored-folder.ts";
import { asUsersMistake } from "./init.ts";

/** The beads of the main checkout, wherever the command runs. */
export function openBeads(paths: Pick<Paths, "root" | "project">): BeadStore {
  const { root, project } = paths;
  const store = openEmbeddedStore({ root, folder: project.beads, lockFile: join(project.requests, "beads.lock") }, { clock: systemClock });
  const prepared = <A extends unknown[], R>(write: (...args: A) => Promise<R>) => async (...args: A): Promise<R> => {
    try {
      ignoredFolder(root, project.requests);
      return await write(...args);
    } catch (error) {
      throw asUsersMistake(error, root);
    }
  };
  return { ...store, create: prepared(store.create), update: prepared(store.update), close: prepared(store.close) };
}
