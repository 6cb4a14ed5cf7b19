export type YamlValue = string | number | boolean | null | readonly YamlValue[] | { readonly [key: string]: YamlValue | undefined };

/** Frontmatter of our own files. Text is quoted unless it is a plain word, so no value can be read as something else; undefined fields are left out. */
export function frontmatter(fields: { readonly [key: string]: YamlValue | undefined }): string {
  return `---\n${mapping(fields, "")}---\n`;
}

function mapping(fields: { readonly [key: string]: YamlValue | undefined }, indent: string): string {
  let text = "";
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) text += `${indent}${scalar(key)}:${nested(value, indent)}`;
  }
  return text;
}

function nested(value: YamlValue, indent: string): string {
  if (isList(value)) {
    if (value.every((item) => !isList(item) && !isMapping(item))) return ` [${value.map((item) => scalar(item as string)).join(", ")}]\n`;
    return `\n${value.map((item) => listItem(item, indent)).join("")}`;
  }
  if (isMapping(value)) {
    const inner = mapping(value, `${indent}  `);
    return inner === "" ? " {}\n" : `\n${inner}`;
  }
  return ` ${scalar(value)}\n`;
}

function listItem(item: YamlValue, indent: string): string {
  if (!isMapping(item)) return `${indent}  -${nested(item, `${indent}  `)}`;
  const inner = mapping(item, `${indent}    `);
  return inner === "" ? `${indent}  - {}\n` : `${indent}  - ${inner.slice(indent.length + 4)}`;
}

const PLAIN = /^[A-Za-z][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+)*$/;
const SPECIAL = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i;
// What JSON leaves as it is and YAML does not print: DEL, C1, zero-width and bidi marks, separators, BOM, non-characters.
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/g;

function scalar(value: string | number | boolean | null): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !SPECIAL.test(value) && !value.includes("--")) return value;
  return JSON.stringify(value).replace(UNPRINTABLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function isMapping(value: YamlValue): value is { readonly [key: string]: YamlValue | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
