import { isMapping } from "./layer.ts";
import { isSection } from "./setting-keys.ts";

/** One form for what may be written in several: `sandbox: off` is its mode, and a section with nothing under it (all commented out) is no section. */
export function normalise(value: unknown): unknown {
  if (value === null || value === undefined) return {};
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).filter(([key, inner]) => !(inner === null && isSection([key])));
  return Object.fromEntries(kept.map(([key, inner]) => [key, key === "sandbox" && typeof inner === "string" ? { mode: inner } : inner]));
}
