const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const GO_DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;

/** Go durations: `30s`, `5m`, `1h30m`. A bare number is seconds. Undefined when it is neither. */
export function durationMs(value: string | number): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value > 0 ? value * 1000 : undefined;
  if (!GO_DURATION.test(value)) return undefined;
  let total = 0;
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) total += Number(amount) * (UNITS_MS[unit ?? "s"] ?? 0);
  return total > 0 ? total : undefined;
}
