// Control characters (but tab and newline), C1, bidi marks and isolates, zero-width characters, line and paragraph separators, tag characters.
// oxlint-disable-next-line no-control-regex
const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Between two emoji a joiner hides nothing; terminals do not agree how wide such a cluster is, so they stand side by side. */
const JOINER = /(?<=\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)\u200d(?=\p{Extended_Pictographic})/gu;

/** Foreign text made safe to show: nothing in it can move the cursor, recolour, overwrite or reorder. The raw text stays in the record. */
export function inert(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(JOINER, "").replace(ACTIVE, visible);
}

/** The same on one line, cut to `width` characters. */
export function inertLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = inert(text).replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
