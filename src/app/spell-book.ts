import { loadSpells, type SpellBook } from "../catalog/spells.ts";
import { type Env, findPaths, homeFolder } from "../config/paths.ts";
import { shownPath } from "../lib/shown-path.ts";

/** The spells that a user in this folder has. */
export function openSpellBook({ cwd, env }: { cwd: string; env: Env }): SpellBook {
  const paths = findPaths(cwd, env);
  const places = { root: paths.root, home: homeFolder(env) };
  return loadSpells(paths, { show: (path) => shownPath(path, places) });
}
