const SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_. -]*$/u;
const MOST_CHARACTERS = 200;

/** Why this cannot be the name of a partial; undefined when it can. A name is a path below the spells' folder, nothing else. */
export function partialNameFault(name: string): { message: string; hint: string } | undefined {
  const inside = "a partial is named by its path below the spells folder, such as \"shared/rules.md\"";
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return { message: "an include may not be an absolute path", hint: inside };
  if (name.includes("\\")) return { message: "an include may not contain a backslash", hint: inside };
  const segments = name.split("/");
  if (segments.includes("..")) return { message: "an include may not leave the spells folder", hint: inside };
  if (!name.endsWith(".md")) return { message: "an include must name a .md file", hint: inside };
  const odd = name.length > MOST_CHARACTERS || segments.some((s) => !SEGMENT.test(s)) || name !== name.normalize("NFC");
  return odd ? { message: "this is not a usable name for an include", hint: inside } : undefined;
}
