/** Go's literals. Each function gives undefined when the text is none. */
const SIMPLE: Record<string, string> = { a: "\u0007", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\" };
const CODES = [
  { letter: "x", digits: 2, bytes: true },
  { letter: "u", digits: 4, bytes: false },
  { letter: "U", digits: 8, bytes: false },
] as const;

/** The inside of `"…"` or `'…'`; `\x` and octal escapes are bytes of UTF-8, as in Go. */
export function unescape(inside: string, quote: '"' | "'"): string | undefined {
  if (!inside.includes("\\")) return inside;
  const pieces: Buffer[] = [];
  for (let at = 0; at < inside.length; ) {
    const next = inside.indexOf("\\", at);
    if (next !== at) {
      pieces.push(Buffer.from(inside.slice(at, next < 0 ? inside.length : next)));
      if (next < 0) break;
      at = next;
    }
    const escape = readEscape(inside, at + 1, quote);
    if (escape === undefined) return undefined;
    pieces.push(escape.bytes);
    at = escape.end;
  }
  return Buffer.concat(pieces).toString("utf8");
}

function readEscape(text: string, at: number, quote: string): { bytes: Buffer; end: number } | undefined {
  const letter = text[at] ?? "";
  const simple = letter === quote ? quote : SIMPLE[letter];
  if (simple !== undefined) return { bytes: Buffer.from(simple), end: at + 1 };
  const octal = /^[0-3][0-7]{2}$/.test(text.slice(at, at + 3));
  if (octal) return { bytes: Buffer.from([Number.parseInt(text.slice(at, at + 3), 8)]), end: at + 3 };
  const kind = CODES.find((c) => c.letter === letter);
  const digits = text.slice(at + 1, at + 1 + (kind?.digits ?? 0));
  if (kind === undefined || digits.length !== kind.digits || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const code = Number.parseInt(digits, 16);
  const end = at + 1 + kind.digits;
  if (kind.bytes) return { bytes: Buffer.from([code]), end };
  return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? undefined : { bytes: Buffer.from(String.fromCodePoint(code)), end };
}

/** `'x'` is the number of its character. */
export function characterCode(inside: string): number | undefined {
  const text = unescape(inside, "'");
  const code = text?.codePointAt(0);
  return text === undefined || code === undefined || String.fromCodePoint(code) !== text ? undefined : code;
}

export function numberOf(text: string): number | undefined {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
  const value = unsigned(rest);
  return value === undefined ? undefined : sign === "-" ? -value : value;
}

function unsigned(text: string): number | undefined {
  const plain = withoutUnderscores(text);
  if (plain === undefined) return undefined;
  const legacyOctal = /^0[0-7]+$/.test(plain) ? `0o${plain}` : undefined;
  const whole = legacyOctal ?? (/^(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(plain) ? plain : undefined);
  if (whole !== undefined) return Number.isSafeInteger(Number(whole)) ? Number(whole) : undefined;
  const value = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(plain) && /[.eE]/.test(plain) ? Number(plain) : undefined;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** An underscore stands between digits, or after the prefix of a base. */
function withoutUnderscores(text: string): string | undefined {
  if (!text.includes("_")) return text;
  const decimal = !/^0[xXoObB]/.test(text);
  return /^_|_$|__/.test(text) || (decimal && /_[.eE]|[.eE]_/.test(text)) ? undefined : text.replaceAll("_", "");
}
