import { createHash } from "node:crypto";

export const SAME_CALLS = 3;

/** Counts calls that were the same and came to the same; returns true when a person should look. */
export function watchRepetition(): (call: { tool: string; input: unknown; output: string }) => boolean {
  const seen = new Map<string, number>();
  return ({ tool, input, output }) => {
    const key = createHash("sha256").update(JSON.stringify([tool, input, output])).digest("hex");
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count === SAME_CALLS ? 0 : count);
    return count === SAME_CALLS;
  };
}
