import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";

const MOST_BYTES = 64 * 1024;
const MOST_DEPTH = 5;
const FILES = ["CLAUDE.md", "AGENTS.md"];

/** What the project tells agents: CLAUDE.md, else AGENTS.md, with `@file` lines replaced by those files, all inside the workspace. */
export function projectGuidance(workspace: string): string {
  const root = realpathSync(workspace);
  for (const name of FILES) {
    const text = read(resolve(root, name), root);
    if (text !== undefined) return expand(text, resolve(root, name), root, [resolve(root, name)]).slice(0, MOST_BYTES);
  }
  return "";
}

function expand(text: string, file: string, root: string, trail: readonly string[]): string {
  let fenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
      const wanted = fenced ? undefined : /^\s*@([^\s`]+)\s*$/.exec(line)?.[1];
      if (wanted === undefined || trail.length >= MOST_DEPTH) return line;
      const target = resolve(dirname(file), wanted);
      const found = trail.includes(target) ? undefined : read(target, root);
      return found === undefined ? line : expand(found, target, root, [...trail, target]);
    })
    .join("\n");
}

/** Only regular files that really lie inside: a link that leads out is left as the line it is. */
function read(path: string, root: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const real = realpathSync(path);
  if (real !== root && !real.startsWith(root + sep)) return undefined;
  const stat = statSync(real);
  return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(real, "utf8") : undefined;
}
