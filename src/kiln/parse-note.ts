import { splitFrontmatter } from "../lib/frontmatter.ts";

/** A part of a note that is found and shown as one: what stands under a heading. `start` and `end` are places in the note's text. */
export type Section = { heading: string | null; line: number; start: number; end: number };

export type ParsedNote = {
  title: string;
  tags: string[];
  aliases: string[];
  /** Targets of `[[wikilinks]]`, without heading and label. */
  links: string[];
  /** Without frontmatter. */
  text: string;
  sections: Section[];
};

/** Sections are cut at blank lines beyond this, so that a long chapter is found by its parts. */
const LONG_SECTION = 3000;

/** Reads any markdown; nothing in it is an error. `path` names a note that has no title of its own. */
export function parseNote(path: string, source: string): ParsedNote {
  const { yaml, closed, body, bodyLine } = splitFrontmatter(source);
  // A text that begins with a rule and has no second one has no frontmatter.
  const fields = closed ? readFields(yaml ?? "") : new Map<string, string[]>();
  const text = yaml === undefined || closed ? body : source;
  const sections = splitSections(text, closed ? bodyLine : 1);
  return {
    title: fields.get("title")?.[0] ?? sections.find((s) => s.heading !== null)?.heading ?? nameOf(path),
    tags: [...(fields.get("tags") ?? []), ...(fields.get("tag") ?? [])].map((t) => t.replace(/^#/, "")),
    aliases: [...(fields.get("aliases") ?? []), ...(fields.get("alias") ?? [])],
    links: text.includes("[[") ? linksOf(text) : [],
    text,
    sections,
  };
}

/** The name by which other notes link to it. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.(?:md|markdown)$/i, "");
}

/** Headings as chunks; a `#` inside a code fence is not a heading. */
function splitSections(text: string, firstLine: number): Section[] {
  const sections: Section[] = [];
  let heading: string | null = null;
  let start = 0;
  let startLine = firstLine;
  let fence: string | undefined;
  let previousAt = 0;
  let previousEnd = 0;
  let line = firstLine;
  const close = (end: number): void => {
    if (heading !== null || !isBlank(text, start, end)) addParts(sections, text, { heading, line: startLine, start, end }, firstLine);
  };
  for (let at = 0; at < text.length; line++) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const first = firstMark(text, at, end);
    if (first === BACKTICK || first === TILDE) {
      const now = text.slice(at, end);
      if (fence === undefined) fence = opensFence(now);
      else if (closesFence(now, fence)) fence = undefined;
    } else if (fence === undefined && first === HASH) {
      const title = /^ {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(text.slice(at, end));
      if (title !== null) {
        close(at);
        heading = plainHeading(title[1] ?? "");
        start = Math.min(end + 1, text.length);
        startLine = line;
      }
    } else if (fence === undefined && (first === EQUALS || first === DASH) && /^[^\s#>\-*+|]/.test(text.slice(previousAt, previousEnd)) && /^ {0,3}(?:=+|-{2,})[ \t]*$/.test(text.slice(at, end))) {
      close(previousAt);
      heading = plainHeading(text.slice(previousAt, previousEnd));
      start = Math.min(end + 1, text.length);
      startLine = line - 1;
    }
    previousAt = at;
    previousEnd = fence === undefined && first !== BACKTICK && first !== TILDE ? Math.min(end, at + 200) : at;
    at = end + 1;
  }
  close(text.length);
  return sections;
}

const HASH = 35;
const DASH = 45;
const EQUALS = 61;
const BACKTICK = 96;
const TILDE = 126;

/** First character that is no indentation; deeper than three spaces it is code. */
function firstMark(text: string, at: number, end: number): number {
  let i = at;
  while (i < end && i < at + 4 && text.charCodeAt(i) === 32) i++;
  return i < end && i < at + 4 ? text.charCodeAt(i) : 0;
}

function opensFence(line: string): string | undefined {
  const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
  return mark;
}

function closesFence(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

function plainHeading(text: string): string {
  if (!/[[*_`]/.test(text)) return text.trim();
  return text.replace(/\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, "$1").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*_`]/g, "").trim();
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (text.charCodeAt(i) > 32) return false;
  return true;
}

function addParts(sections: Section[], text: string, section: Section, firstLine: number): void {
  let { start, line } = section;
  const { heading, end } = section;
  while (end - start > LONG_SECTION) {
    const blank = text.lastIndexOf("\n\n", start + LONG_SECTION) - start;
    const newline = text.lastIndexOf("\n", start + LONG_SECTION) - start;
    const cut = start + (blank > LONG_SECTION / 3 ? blank + 2 : newline > 0 ? newline + 1 : LONG_SECTION);
    sections.push({ heading, line, start, end: cut });
    const counted = start === section.start ? 0 : start;
    if (counted === 0) line = firstLine;
    for (let at = text.indexOf("\n", counted); at >= 0 && at < cut; at = text.indexOf("\n", at + 1)) line++;
    start = cut;
  }
  sections.push({ heading, line, start, end });
}

function linksOf(text: string): string[] {
  const links = new Set<string>();
  for (const [, target = ""] of text.matchAll(/\[\[([^\]|#\n]{1,200})(?:[#|][^\]\n]*)?\]\]/g)) links.add(target.trim());
  return [...links];
}

/** The few fields that search needs, read leniently: notes are written by hand and by many tools. */
function readFields(yaml: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  let list: string[] | undefined;
  for (const line of yaml.split("\n")) {
    const item = /^\s*-\s+(.+)$/.exec(line)?.[1];
    if (item !== undefined) {
      list?.push(unquoted(item));
      continue;
    }
    const [, key, value = ""] = /^(title|tags?|alias(?:es)?):[ \t]*(.*)$/i.exec(line) ?? [];
    if (key === undefined) {
      if (/^\S/.test(line)) list = undefined;
      continue;
    }
    list = [];
    fields.set(key.toLowerCase(), list);
    const inline = /^\[(.*)\]\s*$/.exec(value)?.[1];
    if (inline !== undefined) list.push(...inline.split(",").map(unquoted));
    else if (value.trim() !== "") list.push(...(/^(?:tags?)$/i.test(key) ? value.split(/[\s,]+/) : [value]).map(unquoted));
  }
  for (const [key, values] of fields) fields.set(key, values.filter((v) => v !== ""));
  return fields;
}

function unquoted(value: string): string {
  const text = value.trim();
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}
