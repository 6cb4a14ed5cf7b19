import { loadSpells, type SpellBook } from "../catalog/spells.ts";
import { type Env, findPaths } from "../config/paths.ts";
import { openTrust, type Trust } from "../trust/open-trust.ts";
import { loadDeps } from "./agent-catalog.ts";

/** The spells that a user in this folder has, and whether they may be used for work. */
export function openSpellBook({ cwd, env, trust }: { cwd: string; env: Env; trust?: boolean | undefined }): { book: SpellBook; trust: Trust } {
  const paths = findPaths(cwd, env);
  return { book: loadSpells(paths, loadDeps(paths, env, "spells")), trust: openTrust(paths, env, { trust }) };
}
