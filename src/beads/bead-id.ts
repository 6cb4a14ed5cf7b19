import { randomInt } from "node:crypto";
import { slugify } from "../lib/slug.ts";

const CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
const TRIES_PER_LENGTH = 8;

/** `<prefix>-<4 or more characters>`, unlike every id that is there. The prefix is the one most beads have, else the folder's name. */
export function newBeadId(taken: ReadonlySet<string>, folderName: string): string {
  const prefix = commonPrefix(taken) ?? slugify(folderName, 20);
  // Ids become names of folders and branches, where case may not tell two apart.
  const folded = new Set([...taken].map((id) => id.toLowerCase()));
  for (let length = 4; ; length++) {
    for (let attempt = 0; attempt < TRIES_PER_LENGTH; attempt++) {
      const id = `${prefix}-${Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join("")}`;
      if (!folded.has(id.toLowerCase())) return id;
    }
  }
}

function commonPrefix(ids: ReadonlySet<string>): string | undefined {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const prefix = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,30})-[A-Za-z0-9]+(?:\.\d+)*$/.exec(id)?.[1];
    if (prefix !== undefined) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}
