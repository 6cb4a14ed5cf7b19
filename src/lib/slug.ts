import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { nameFault } from "../contract/name.ts";

const DEFAULT_MAX = 40;

/** Any text as a safe name of at most `max` characters: ASCII words joined by dashes, cut between words where it can. Several texts may give one slug. */
export function slugify(text: string, max = DEFAULT_MAX): string {
  const words = text
    .slice(0, 4096)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const slug = cut(words, max);
  if (slug === "") return "untitled".slice(0, max);
  return nameFault(slug) === undefined ? slug : cut(`x-${slug}`, max);
}

/** The name itself when it is safe, else a slug that no other original gets. The original must be kept beside it. */
export function safeName(original: string, max = 48): string {
  if (nameFault(original) === undefined && original.length <= max) return original;
  const hash = createHash("sha256").update(original).digest("hex").slice(0, 8);
  return `${slugify(original, max - hash.length - 1)}-${hash}`;
}

/** `YYYY-MM-DD-slug` by the local calendar. */
export function datedSlug(at: Date, text: string): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}-${slugify(text)}`;
}

/** Makes a folder that did not exist: `name`, then `name-2`, `name-3`. Two processes never get the same. Returns its name. */
export function makeUniqueFolder(parent: string, name: string, mode = 0o700): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    try {
      mkdirSync(join(parent, candidate), { mode });
      return candidate;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function cut(words: string, max: number): string {
  if (words.length <= max) return words;
  const hard = words.slice(0, max);
  const at = hard.lastIndexOf("-");
  return (words[max] !== "-" && at > max / 2 ? hard.slice(0, at) : hard).replace(/-+$/, "");
}
