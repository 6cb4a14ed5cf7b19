/** Names that we create become paths and git refs, so they are kept to what is safe everywhere. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const RESERVED = new Set([
  "con", "prn", "aux", "nul",
  ...Array.from({ length: 10 }, (_, i) => `com${i}`),
  ...Array.from({ length: 10 }, (_, i) => `lpt${i}`),
  "head", "user", "primary", "session", "metadata", "events",
]);

export type NameFault = "invalid" | "reserved" | undefined;

export function nameFault(name: string): NameFault {
  if (!NAME.test(name) || name.includes("..") || name.endsWith(".") || name.endsWith(".lock")) return "invalid";
  return RESERVED.has(name.split(".")[0] ?? name) ? "reserved" : undefined;
}
