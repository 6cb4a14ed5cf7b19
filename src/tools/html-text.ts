const HIDDEN = new Set(["script", "style", "template", "noscript", "svg", "head"]);
const BLOCKS = /^\/?(?:p|div|br|li|ul|ol|tr|table|h[1-6]|section|article|header|footer|main|nav|pre|blockquote|dl|dt|dd|hr|title|figure|form)$/;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", mdash: "—", ndash: "–", hellip: "…", copy: "©", rsquo: "’", lsquo: "‘", ldquo: "“", rdquo: "”" };

/** The readable text of a page, in one pass; broken HTML gives odd text, never an error. */
export function htmlText(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    if (open < 0) {
      parts.push(html.slice(at));
      break;
    }
    parts.push(html.slice(at, open));
    if (html.startsWith("<!--", open)) {
      at = after(html, "-->", open + 4);
      continue;
    }
    const tag = /^(?:\/?[a-z][a-z0-9]*|[!?])/i.exec(html.slice(open + 1, open + 40))?.[0].toLowerCase();
    if (tag === undefined) {
      parts.push("<");
      at = open + 1;
      continue;
    }
    const close = html.indexOf(">", open);
    if (close < 0) break;
    at = close + 1;
    if (HIDDEN.has(tag) && html[close - 1] !== "/") at = tag === "head" ? headEnd(html, at, parts) : after(html, `</${tag}`, at, ">");
    else if (BLOCKS.test(tag)) parts.push("\n");
  }
  return entities(parts.join("")).replace(/[ \t\r\f\u00a0]+/g, " ").replace(/ ?\n ?/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
}

/** Of the head only the title is for readers. */
function headEnd(html: string, from: number, parts: string[]): number {
  const end = after(html, "</head", from, ">");
  const title = /<title[^>]{0,200}>([^<]{0,500})/i.exec(html.slice(from, Math.min(end, from + 100_000)))?.[1];
  if (title !== undefined) parts.push(`${title}\n\n`);
  return end;
}

function after(html: string, word: string, from: number, upTo?: string): number {
  const rest = word.startsWith("</") ? indexOfIgnoringCase(html, word, from) : html.indexOf(word, from);
  if (rest < 0) return html.length;
  if (upTo === undefined) return rest + word.length;
  const end = html.indexOf(upTo, rest);
  return end < 0 ? html.length : end + 1;
}

function indexOfIgnoringCase(html: string, word: string, from: number): number {
  for (let at = html.indexOf("</", from); at >= 0; at = html.indexOf("</", at + 2)) {
    if (html.slice(at, at + word.length).toLowerCase() === word) return at;
  }
  return -1;
}

function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "0", 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}
