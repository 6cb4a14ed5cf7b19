import { plainScalar } from "./yaml-scalar.ts";

/** `key: plain text` · `key: "text without escapes"` · `key: [word, word]`. In these nothing can mean two things. */
const LINE = /^([a-z][a-z_]*): (?:([A-Za-z](?:[A-Za-z0-9 _.,()/'-]*[A-Za-z0-9_.,()/'-])?)|"([ !#-[\]-~\u00a1-\u1fff]*)"|\[([A-Za-z][A-Za-z0-9_-]*(?:, [A-Za-z][A-Za-z0-9_-]*)*)\])$/;

/** Most frontmatter is a few lines of the plainest YAML; reading those without the parser is ten times faster. Undefined: ask the parser. */
export function readSimpleYaml(text: string): Record<string, unknown> | undefined {
  const value: Record<string, unknown> = {};
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const match = LINE.exec(end < 0 ? text.slice(start) : text.slice(start, end));
    if (match === null) return undefined;
    const [, key = "", plain, quoted, list] = match;
    // Also true of `constructor`, which the full reader refuses.
    if (key in value || key === "prototype") return undefined;
    value[key] = plain !== undefined ? plainScalar(plain) : (quoted ?? list?.split(", ").map(plainScalar));
    start = end < 0 ? text.length : end + 1;
  }
  return text === "" ? undefined : value;
}
