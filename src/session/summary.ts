import { inertLine } from "../lib/inert.ts";

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;

/** The last Summary section of an agent's text; without one, the first paragraph stands in. */
export function summaryOf(markdown: string): string {
  const { summary } = splitSummary(markdown);
  return summary === "" ? firstParagraph(markdown) : summary;
}

/** What a person is shown of a result: its first 100 characters, on one line, inert. */
export function summaryLine(summary: string): string {
  const characters = [...inertLine(summary)];
  return characters.length <= 100 ? characters.join("") : `${characters.slice(0, 100).join("")}…`;
}

/** The text without its last Summary section, and that section. */
export function splitSummary(markdown: string): { findings: string; summary: string } {
  const lines = markdown.replaceAll("\r\n", "\n").split("\n");
  const headings = headingsOf(lines);
  const at = headings.findLastIndex((h) => /^summary:?$/i.test(h.title.replace(/[*_]/g, "")));
  const heading = headings[at];
  if (heading === undefined) return { findings: markdown.trim(), summary: "" };
  const end = headings.slice(at + 1).find((h) => h.level <= heading.level)?.line ?? lines.length;
  return {
    findings: [...lines.slice(0, heading.line), ...lines.slice(end)].join("\n").trim(),
    summary: lines.slice(heading.line + 1, end).join("\n").trim(),
  };
}

function headingsOf(lines: readonly string[]): { line: number; level: number; title: string }[] {
  const found: { line: number; level: number; title: string }[] = [];
  let fence: string | undefined;
  for (const [line, text] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(text);
    if (fence !== undefined) {
      if (mark?.[1]?.startsWith(fence) === true && mark[2]?.trim() === "") fence = undefined;
    } else if (mark !== null) fence = mark[1];
    else {
      const heading = HEADING.exec(text);
      if (heading !== null) found.push({ line, level: heading[1]?.length ?? 1, title: heading[2] ?? "" });
    }
  }
  return found;
}

function firstParagraph(markdown: string): string {
  const paragraphs = markdown.replaceAll("\r\n", "\n").split(/\n\s*\n/);
  for (const paragraph of paragraphs) {
    const text = paragraph.split("\n").filter((line) => !HEADING.test(line)).join("\n").trim();
    if (text !== "") return text;
  }
  return "";
}
