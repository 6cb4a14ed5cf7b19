/** Context windows by family; a model that we do not know gets one that most local servers have. */
export function windowOf(model: string): number {
  return /(^|\/)claude-/.test(model) ? 200_000 : 32_000;
}
