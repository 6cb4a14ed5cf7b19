/** Names a user may write for a model. Full ids pass through; the prices are in `llm/`. */
export const MODEL_ALIASES = {
  haiku: "claude-haiku-5-5",
  sonnet: "claude-sonnet-5-5",
  opus: "claude-opus-5-5",
} as const;

export type ModelAlias = keyof typeof MODEL_ALIASES;
export const DEFAULT_MODEL: ModelAlias = "sonnet";
export type ModelSource = "definition" | "default" | "override";

export function isModelAlias(name: string): name is ModelAlias {
  return Object.hasOwn(MODEL_ALIASES, name);
}

/** A full id has a dash, slash, colon or digit (`claude-haiku-4-5`, `qwen3:8b`); a lone word is an alias or a typing error. */
export function looksLikeModelId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/.test(name) && /[-/:0-9]/.test(name);
}

export function resolveModel(name: string): string {
  return isModelAlias(name) ? MODEL_ALIASES[name] : name;
}
