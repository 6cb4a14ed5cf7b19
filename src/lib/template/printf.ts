import { MOST_TEXT } from "./limits.ts";
import { exponentText, numberText } from "./text-of.ts";
import { isWhole, kindOf, typeName } from "./value.ts";
import { ValueFault } from "./value-fault.ts";

type Spec = { minus: boolean; plus: boolean; space: boolean; zero: boolean; sharp: boolean; width: number; precision: number | undefined; verb: string };

const WIDEST = 10_000;
const MOST_PRECISE = 100;
const SPEC = /%([-+# 0]*)(\d*)(?:(\.)(\d*))?([\s\S]?)/uy;

/** Go's Sprintf, mistakes included: a wrong verb shows as `%!d(string=x)`. Lists and maps are text, namely JSON. */
export function printf(format: string, args: readonly unknown[], box: { text(value: unknown): string }): string {
  const pieces: string[] = [];
  let used = 0;
  let padding = 0;
  for (let at = 0; at < format.length; ) {
    const percent = format.indexOf("%", at);
    if (percent < 0) {
      pieces.push(format.slice(at));
      break;
    }
    pieces.push(format.slice(at, percent));
    SPEC.lastIndex = percent;
    const match = SPEC.exec(format) ?? [""];
    at = percent + match[0].length;
    const spec = specOf(match);
    padding += spec.width;
    if (padding > MOST_TEXT) throw new ValueFault(`a text may have at most ${MOST_TEXT} characters`);
    if (spec.verb === "%") pieces.push("%");
    else if (spec.verb === "") pieces.push("%!(NOVERB)");
    else if (used >= args.length) pieces.push(`%!${spec.verb}(MISSING)`);
    else pieces.push(one(spec, args[used++], box));
  }
  const extra = args.slice(used).map((a) => (kindOf(a) === "nil" ? "<nil>" : `${typeName(a)}=${box.text(a)}`));
  if (extra.length > 0) pieces.push(`%!(EXTRA ${extra.join(", ")})`);
  return pieces.join("");
}

function specOf([, flags = "", width = "", dot, precision = "", verb = ""]: readonly (string | undefined)[]): Spec {
  if (verb === "*" || verb === "[") throw new ValueFault(`printf does not support "%${verb}"`, "write the width as a number and the arguments in order");
  if (Number(width) > WIDEST || Number(precision) > MOST_PRECISE) throw new ValueFault(`printf pads to at most ${WIDEST} and rounds to at most ${MOST_PRECISE} digits`);
  return {
    minus: flags.includes("-"),
    plus: flags.includes("+"),
    space: flags.includes(" "),
    zero: flags.includes("0") && !flags.includes("-"),
    sharp: flags.includes("#"),
    width: Number(width),
    precision: dot === undefined ? undefined : Number(precision),
    verb,
  };
}

function one(spec: Spec, value: unknown, box: { text(value: unknown): string }): string {
  if (spec.verb === "T") return padded(spec, typeName(value));
  switch (kindOf(value)) {
    case "nil":
      return spec.verb === "v" ? padded(spec, "<nil>") : `%!${spec.verb}(<nil>)`;
    case "bool":
      return spec.verb === "t" || spec.verb === "v" ? padded(spec, String(value)) : wrong(spec, value, box);
    case "number":
      return numeric(spec, value as number) ?? wrong(spec, value, box);
    default:
      return textual(spec, box.text(value)) ?? wrong(spec, value, box);
  }
}

function wrong(spec: Spec, value: unknown, box: { text(value: unknown): string }): string {
  return `%!${spec.verb}(${typeName(value)}=${box.text(value)})`;
}

function textual(spec: Spec, text: string): string | undefined {
  const cut = spec.precision === undefined ? text : [...text].slice(0, spec.precision).join("");
  switch (spec.verb) {
    case "s":
    case "v":
      return padded(spec, cut);
    case "q":
      return padded(spec, spec.sharp && !/[`\n\r]/.test(cut) ? `\`${cut}\`` : goQuote(cut));
    case "x":
    case "X": {
      const hex = Buffer.from(cut).toString("hex");
      return padded(spec, spec.verb === "x" ? hex : hex.toUpperCase());
    }
    default:
      return undefined;
  }
}

const BASES: Record<string, { base: number; prefix: string }> = {
  d: { base: 10, prefix: "" },
  b: { base: 2, prefix: "0b" },
  o: { base: 8, prefix: "0" },
  x: { base: 16, prefix: "0x" },
  X: { base: 16, prefix: "0X" },
};

function numeric(spec: Spec, value: number): string | undefined {
  if (spec.verb === "v") return signed(spec, value, numberText(Math.abs(value)));
  const base = BASES[spec.verb];
  if (base !== undefined) {
    if (!isWhole(value)) return undefined;
    const digits = Math.abs(value).toString(base.base).padStart(spec.precision ?? 0, "0");
    return signed(spec, value, `${spec.sharp ? base.prefix : ""}${spec.verb === "X" ? digits.toUpperCase() : digits}`);
  }
  if (spec.verb === "c" || spec.verb === "q") {
    if (!isWhole(value)) return undefined;
    const character = value >= 0 && value <= 0x10ffff ? Buffer.from(String.fromCodePoint(value)).toString() : "\uFFFD";
    return padded(spec, spec.verb === "c" ? character : `'${character === "'" ? "\\'" : goQuote(character).slice(1, -1).replace('\\"', '"')}'`);
  }
  const text = floating(spec, Math.abs(value));
  return text === undefined ? undefined : signed(spec, value, text);
}

/** `value` is not negative. */
function floating(spec: Spec, value: number): string | undefined {
  if (!Number.isFinite(value) && "fFeEgG".includes(spec.verb)) return Number.isNaN(value) ? "NaN" : "Inf";
  switch (spec.verb) {
    case "f":
    case "F":
      return fixed(value, spec.precision ?? 6);
    case "e":
    case "E":
      return withExponent(exponential(value, spec.precision ?? 6), spec.verb);
    case "g":
    case "G":
      return general(value, spec.precision, spec.verb === "g" ? "e" : "E");
    default:
      return undefined;
  }
}

/** From 1e21 on toFixed gives an exponent; such numbers have no fraction. */
function fixed(value: number, digits: number): string {
  if (value < 1e21) return halfToEven(value.toFixed(digits), value.toFixed(MOST_PRECISE), digits);
  return `${BigInt(value)}${digits === 0 ? "" : `.${"0".repeat(digits)}`}`;
}

function exponential(value: number, digits: number): string {
  const [exact = "", power = "+0"] = value.toExponential(MOST_PRECISE).split("e");
  const rounded = value.toExponential(digits);
  return rounded.endsWith(`e${power}`) ? `${halfToEven(rounded.split("e")[0] ?? "", exact, digits)}e${power}` : rounded;
}

/** JavaScript rounds an exact half up, Go to the even digit. `exact` has every digit of the number. */
function halfToEven(rounded: string, exact: string, digits: number): string {
  const end = exact.indexOf(".") + 1 + digits;
  const kept = exact.slice(0, digits === 0 ? end - 1 : end);
  return /^50*$/.test(exact.slice(end)) && /[02468]$/.test(kept) ? kept : rounded;
}

function general(value: number, precision: number | undefined, letter: string): string {
  if (precision === undefined) return numberText(value).replace("e", letter);
  const digits = Math.max(1, precision);
  const [mantissa = "", exponent = "0"] = exponential(value, digits - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= digits) return `${trimZeros(mantissa)}${letter}${exponentText(power)}`;
  return trimZeros(fixed(value, digits - 1 - power));
}

function trimZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function withExponent(text: string, letter: string): string {
  const [mantissa = "", exponent = "0"] = text.split("e");
  return `${mantissa}${letter}${exponentText(Number(exponent))}`;
}

/** The sign stands before the zeros and after the spaces. */
function signed(spec: Spec, value: number, text: string): string {
  const sign = value < 0 ? "-" : spec.plus ? "+" : spec.space ? " " : "";
  const digits = text.startsWith("+") ? text.slice(1) : text;
  if (!spec.zero || !Number.isFinite(value)) return padded(spec, sign + digits);
  return sign + digits.padStart(spec.width - sign.length, "0");
}

function padded(spec: Spec, text: string): string {
  const missing = spec.width === 0 ? 0 : spec.width - [...text].length;
  if (missing <= 0) return text;
  return spec.minus ? text + " ".repeat(missing) : " ".repeat(missing) + text;
}

const ESCAPES: Record<string, string> = {
  "\u0007": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\",
};

/** A text as Go would write it in its source. */
export function goQuote(text: string): string {
  return `"${text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu, (c) => ESCAPES[c] ?? codeEscape(c.codePointAt(0) ?? 0))}"`;
}

function codeEscape(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code >= 0xd800 && code < 0xe000) return "\\ufffd";
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

