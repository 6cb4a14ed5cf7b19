export type LooseFrontmatter = { value: Record<string, string | string[]>; /** Line of each key in the file. */ lines: Map<string, number> };

const KEY = /^([A-Za-z_][A-Za-z0-9_-]{0,40})[ \t]*:(?:[ \t]+(.*))?$/;
/** Keys of other programs that are often written beside the known ones; any other `word:` at the start of a line is taken for text. */
const COMMON = new Set(["version", "author", "tags", "category", "title", "id", "priority", "capabilities", "triggers", "dependencies", "license", "created", "updated", "type"]);

/**
 * Frontmatter that is not quite YAML, read line by line: the rest of the line belongs to its key, whatever it contains; lines that start
 * no known key go on with the value before; `- item` lines make a list.
 */
export function readLoosely(source: string, knownKeys: readonly string[], firstLine = 2): LooseFrontmatter {
  const known = new Set<string>(knownKeys);
  const found = new Map<string, { first: string; rest: string[] }>();
  const lines = new Map<string, number>();
  let current: { first: string; rest: string[] } | undefined;
  for (const [index, line] of source.split("\n").entries()) {
    const [, key, rest = ""] = KEY.exec(line) ?? [];
    if (key !== undefined && (known.has(key) || COMMON.has(key)) && !found.has(key)) {
      current = { first: rest.trim(), rest: [] };
      found.set(key, current);
      lines.set(key, index + firstLine);
    } else current?.rest.push(line);
  }
  const value: Record<string, string | string[]> = {};
  for (const [key, { first, rest }] of found) value[key] = valueOf(first, rest);
  return { value, lines };
}

function valueOf(first: string, rest: readonly string[]): string | string[] {
  const items = rest.map((line) => /^[ \t]*-[ \t]+(.*)$/.exec(line)?.[1]);
  if (first === "" && items.some((item) => item !== undefined) && rest.every((line, i) => items[i] !== undefined || line.trim() === "" || line.trimStart().startsWith("#"))) {
    return items.filter((item) => item !== undefined).map((item) => unquoted(item.trim()));
  }
  const block = /^[|>][+-]?\d?$/.test(first);
  const text = block ? rest.map((line) => line.trim()) : [first, ...rest.map((line) => line.trim())];
  return unquoted((first.startsWith(">") && block ? text.join(" ") : text.join("\n")).trim());
}

/** Quotes around the whole value go; quotes inside it, escaped or not, stay as text. */
function unquoted(text: string): string {
  const quote = text[0];
  if (text.length < 2 || (quote !== '"' && quote !== "'") || !text.endsWith(quote)) return text;
  const inner = text.slice(1, -1);
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\nt])/g, (_, c: string) => (c === "n" ? "\n" : c === "t" ? "\t" : c));
}
