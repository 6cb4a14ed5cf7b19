const INTEGER = /^(?:[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const WORDS = new Map<string, unknown>([
  ["", null], ["~", null], ["null", null], ["Null", null], ["NULL", null],
  ["true", true], ["True", true], ["TRUE", true], ["false", false], ["False", false], ["FALSE", false],
  ...["", "+", "-"].flatMap((sign) => [".inf", ".Inf", ".INF"].map((word): [string, number] => [sign + word, sign === "-" ? -Infinity : Infinity])),
  ...[".nan", ".NaN", ".NAN"].map((word): [string, number] => [word, Number.NaN]),
]);

/** What an unquoted scalar means by the core schema of YAML 1.2: null, true, false, a number, else text (`yes`, `on` and dates too). */
export function plainScalar(text: string): unknown {
  if (text.length <= 5 && WORDS.has(text)) return WORDS.get(text);
  const first = text.charCodeAt(0);
  // Digits, sign and dot are all that a number can start with.
  if (first > 57 || (first < 48 && first !== 43 && first !== 45 && first !== 46)) return text;
  if (INTEGER.test(text)) return Number(text);
  return FLOAT.test(text) ? Number(text) : text;
}
