/** Columns that a text takes: wide East Asian characters and emoji two, marks that sit on another character none. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

export function characterWidth(character: string): 0 | 1 | 2 {
  if (character <= "~") return 1;
  if (NONE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

// The letters of a flag take one column each: together they are as wide as any emoji.
const NONE = /[\p{Mn}\p{Me}]/u;
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u;
