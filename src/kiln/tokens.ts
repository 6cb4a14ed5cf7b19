/**
 * Words of a text, three numbers each: hash of the word in small letters, start, end. Reused between texts, so that no word becomes a string.
 * `codes` is the text as numbers: asking a string for each of its characters takes three times as long.
 */
export type Tokens = { data: Int32Array; count: number; text: string; codes: Uint16Array; codeBytes: Buffer };

export function emptyTokens(): Tokens {
  return { data: new Int32Array(3 * 1024), count: 0, text: "", ...room(4096) };
}

/**
 * Runs of letters and digits. Parts of `camelCase` come first, then the whole; `snake_case` and `kebab-case` give their parts;
 * each ideograph is a word of its own.
 */
export function scanTokens(text: string, tokens: Tokens, from = 0, end = text.length): void {
  if (tokens.text !== text) takeText(text, tokens);
  const { codes } = tokens;
  tokens.count = 0;
  let i = from;
  while (i < end) {
    const start = i;
    // Nearly every word: small letters, perhaps after one capital.
    const first = codes[i++] as number;
    const kind = KINDS[first] as number;
    if (kind === OTHER) continue;
    let next = OTHER;
    let hash = fold(BASIS, first | SMALL);
    if (kind <= UPPER) {
      while (i < end) {
        const code = codes[i] as number;
        next = KINDS[code] as number;
        if (next !== LOWER) break;
        hash = fold(hash, code);
        i++;
      }
      if (i >= end || next === OTHER || next === IDEOGRAPH) push(tokens, hash, start, i);
      else i = mixedWord(tokens, start, end);
    } else if (kind === IDEOGRAPH) push(tokens, fold(BASIS, first), start, i);
    else i = mixedWord(tokens, start, end);
  }
}

/** A word with capitals inside or with letters beyond ASCII; its end. */
function mixedWord(tokens: Tokens, start: number, end: number): number {
  const { codes, text } = tokens;
  let i = start;
  let hash = BASIS;
  let partStart = start;
  let kind = KINDS[codes[start] as number] as number;
  let lastKind = kind;
  let foreign = false;
  do {
    if (kind === UPPER && lastKind === LOWER) {
      push(tokens, hash, partStart, i);
      hash = BASIS;
      partStart = i;
    }
    const code = codes[i] as number;
    hash = fold(hash, kind === UPPER ? code | SMALL : code);
    if (kind === FOREIGN) foreign = true;
    lastKind = kind;
    i++;
    kind = i < end ? (KINDS[codes[i] as number] as number) : OTHER;
  } while (kind !== OTHER && kind !== IDEOGRAPH);
  if (foreign) hash = hashWord(spelling(text, partStart, i));
  push(tokens, hash, partStart, i);
  if (partStart !== start) push(tokens, hashWord(spelling(text, start, i)), start, i);
  return i;
}

function takeText(text: string, tokens: Tokens): void {
  if (text.length > tokens.codes.length) Object.assign(tokens, room(text.length * 2));
  tokens.codeBytes.write(text, "utf16le");
  tokens.text = text;
}

function room(length: number): Pick<Tokens, "codes" | "codeBytes"> {
  const codes = new Uint16Array(length);
  return { codes, codeBytes: Buffer.from(codes.buffer) };
}

/** The word at a place, as it is hashed. */
export function spelling(text: string, start: number, end: number): string {
  return text.slice(start, end).normalize("NFC").toLowerCase();
}

/** FNV-1a over UTF-16 units, as a signed number: those that fit into 31 bits cost nothing to pass around. */
export function hashWord(word: string): number {
  let hash = BASIS;
  for (let i = 0; i < word.length; i++) hash = fold(hash, word.charCodeAt(i));
  return hash;
}

const BASIS = 0x811c9dc5 | 0;
const PRIME = 0x01000193;
/** Makes a capital of ASCII small, and leaves small letters and digits as they are. */
const SMALL = 0x20;
const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const FOREIGN = 3;
const IDEOGRAPH = 4;

function fold(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME);
}

function push(tokens: Tokens, hash: number, start: number, end: number): void {
  const at = tokens.count * 3;
  if (at + 3 > tokens.data.length) {
    const larger = new Int32Array(tokens.data.length * 2);
    larger.set(tokens.data);
    tokens.data = larger;
  }
  tokens.data[at] = hash;
  tokens.data[at + 1] = start;
  tokens.data[at + 2] = end;
  tokens.count++;
}

/** Of every code. */
const KINDS = new Uint8Array(1 << 16);
for (let code = 0; code < KINDS.length; code++) KINDS[code] = code < 128 ? asciiKind(code) : foreignKind(code);

/** Digits count as small letters, so that `utf8` and `s3` stay whole. */
function asciiKind(code: number): number {
  if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) return LOWER;
  return code >= 65 && code <= 90 ? UPPER : OTHER;
}

function foreignKind(code: number): number {
  if (code < 0xc0 || code === 0xd7 || code === 0xf7) return OTHER;
  if ((code >= 0x2000 && code <= 0x2bff) || (code >= 0x3000 && code <= 0x303f) || (code >= 0xfe00 && code <= 0xff0f)) return OTHER;
  if ((code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af)) return IDEOGRAPH;
  // Halves of emoji and the like.
  return code >= 0xd800 && code <= 0xdfff ? OTHER : FOREIGN;
}
