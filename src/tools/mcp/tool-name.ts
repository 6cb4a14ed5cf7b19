import { createHash } from "node:crypto";

const MOST = 64;

/** `mcp__<server>__<tool>` in letters that every model provider takes; a hash tells apart what would become the same. */
export function toolName(server: string, tool: string, taken: { has(name: string): boolean }): string {
  const name = `mcp__${safe(server)}__${safe(tool)}`;
  if (name.length <= MOST && !taken.has(name)) return name;
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 8);
  return `${name.slice(0, MOST - hash.length - 1)}_${hash}`;
}

function safe(text: string): string {
  return text.slice(0, 200).replace(/[^A-Za-z0-9_-]/g, "_");
}
