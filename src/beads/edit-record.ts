/** Changes top-level members of a JSON object's text; undefined removes one. Every other byte stays: number forms, escapes, order and spaces of other programs. */
export function editRecord(text: string, changes: Record<string, unknown>): string {
  let edited = text;
  for (const [key, value] of Object.entries(changes)) edited = value === undefined ? without(edited, key) : having(edited, key, JSON.stringify(value));
  return edited;
}

type Member = { key: string; start: number; valueStart: number; end: number };

function having(text: string, key: string, value: string): string {
  const all = members(text);
  // Of a key that stands twice, readers take the last.
  const member = all.findLast((m) => m.key === key);
  if (member !== undefined) return text.slice(0, member.valueStart) + value + text.slice(member.end);
  const last = all.at(-1);
  const at = last?.end ?? text.indexOf("{") + 1;
  return `${text.slice(0, at)}${last === undefined ? "" : ","}${JSON.stringify(key)}:${value}${text.slice(at)}`;
}

function without(text: string, key: string): string {
  const all = members(text);
  const at = all.findIndex((m) => m.key === key);
  const [before, member, after] = [all[at - 1], all[at], all[at + 1]];
  if (member === undefined) return text;
  const [from, to] = before !== undefined ? [before.end, member.end] : [member.start, after?.start ?? member.end];
  return without(text.slice(0, from) + text.slice(to), key);
}

/** Of a text that is known to be one valid object. */
function members(text: string): Member[] {
  const found: Member[] = [];
  let at = text.indexOf("{") + 1;
  for (;;) {
    const start = skip(text, at, /[\s,]/);
    if (text[start] !== '"') return found;
    const keyEnd = stringEnd(text, start);
    const valueStart = skip(text, keyEnd, /[\s:]/);
    const end = valueEnd(text, valueStart);
    found.push({ key: JSON.parse(text.slice(start, keyEnd)) as string, start, valueStart, end });
    at = end;
  }
}

function skip(text: string, from: number, over: RegExp): number {
  let at = from;
  while (at < text.length && over.test(text[at] ?? "")) at++;
  return at;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"' || at >= text.length) return at + 1;
  }
}

function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const c = text[at] ?? "";
    if (c === '"') at = stringEnd(text, at) - 1;
    else if (c === "{" || c === "[") depth++;
    else if ((c === "}" || c === "]") && depth > 0) depth--;
    else if (depth === 0 && /[\s,}\]]/.test(c)) return at;
  }
  return text.length;
}
