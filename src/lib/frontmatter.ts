/** A markdown file in its two parts. `yaml` is undefined when there is no frontmatter; `closed` is false when its end is missing. */
export type Frontmatter = { yaml: string | undefined; closed: boolean; body: string; bodyLine: number };

/** Line of the file on which the YAML of a frontmatter begins. */
export const YAML_LINE = 2;

/** Splits at the two `---` lines. A byte order mark is dropped and line ends become `\n`, so lines count as an editor shows them. */
export function splitFrontmatter(source: string): Frontmatter {
  const text = normalised(source);
  const firstEnd = lineEnd(text, 0);
  if (text.slice(0, firstEnd).trimEnd() !== "---") return { yaml: undefined, closed: false, body: text, bodyLine: 1 };
  let line = YAML_LINE;
  for (let start = firstEnd + 1; start <= text.length; line++) {
    const end = lineEnd(text, start);
    if (text.startsWith("---", start) && text.slice(start, end).trimEnd() === "---") {
      return { yaml: text.slice(firstEnd + 1, start), closed: true, body: text.slice(end + 1), bodyLine: line + 1 };
    }
    start = end + 1;
  }
  return { yaml: text.slice(firstEnd + 1), closed: false, body: "", bodyLine: line };
}

/** The body without blank lines around it. */
export function trimmedBody(body: string): string {
  return body.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

function normalised(source: string): string {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}
