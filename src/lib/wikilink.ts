import { nameFault } from "../contract/name.ts";
import { inert, inertLine } from "./inert.ts";

/** A link to a note of the same folder. The target is a name that we made; anything else is a bug. */
export function wikilink(target: string): string {
  if (nameFault(target) === "invalid") throw new Error(`not a name that can be linked: ${target}`);
  return `[[${target}]]`;
}

/**
 * Foreign markdown made safe to stand in a note of ours: its links leave only by http, it makes no wikilinks, no HTML,
 * no images, no comments, no headings above the third level, and an open code fence does not swallow what follows.
 * Code fences at the margin keep their text as it is.
 */
export function tameMarkdown(text: string): string {
  const result: string[] = [];
  let fence: string | undefined;
  for (const line of inert(text).split("\n")) {
    const mark = /^(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence === undefined) {
      const opens = mark !== null && !(mark[1]?.startsWith("`") === true && mark[2]?.includes("`") === true);
      if (opens) fence = mark[1];
      result.push(opens ? line : tameLine(line));
    } else {
      if (mark?.[1] !== undefined && mark[1].startsWith(fence) && mark[2]?.trim() === "") fence = undefined;
      result.push(line);
    }
  }
  if (fence !== undefined) result.push(fence);
  return result.join("\n").trim();
}

/** Foreign text within one line of ours: no markup at all. */
export function plainMarkdown(text: string, width?: number): string {
  return inertLine(text, width).replace(/[\\`*[\]<>|#$%~!]|(?<!\w)_|_(?!\w)/g, "\\$&").replace(/\b(javascript|data|vbscript|file|obsidian):/gi, "$1\\:");
}

/** Foreign text as a code span on one line. Double brackets are set apart, for readers that look for links in code too. */
export function codeSpan(text: string, width?: number): string {
  const line = inertLine(text, width).replace(/\[(?=\[)/g, "[ ").replace(/\](?=\])/g, "] ");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map((m) => m[0].length));
  const mark = "`".repeat(longest + 1);
  return longest > 0 || line === "" ? `${mark} ${line} ${mark}` : `${mark}${line}${mark}`;
}

function tameLine(line: string): string {
  return line
    .replace(/\[(?=\[)|(?<=\[)\[/g, "\\[")
    .replace(/\](?=\])|(?<=\])\]/g, "\\]")
    .replace(/\]\((?!\s*<?https?:\/\/)/gi, "]\\(")
    .replace(/^([>\-*+\s\d.)]{0,64})\[([^\]]{0,999}\]:)/, "$1\\[$2")
    // Entities, because a backslash that already stands there would undo another one.
    .replace(/<(?=[A-Za-z/!?])/g, "&lt;")
    .replace(/!(?=\\?\[)/g, "&#33;")
    .replace(/^( {0,3})#{1,2}(?=\s|$)/, "$1###")
    .replace(/^( {0,3})(?=(?:=+|-+)\s*$)/, "$1\\")
    .replace(/\$(?=\$)|(?<=\$)\$/g, "\\$")
    .replace(/%(?=%)|(?<=%)%/g, "\\%");
}
