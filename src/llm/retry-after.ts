/** How long the server asks us to wait: `retry-after-ms`, `retry-after` (seconds or a date), or the reset of a usage limit. Undefined when it says nothing usable. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = amount(headers["retry-after-ms"]);
  if (exact !== undefined) return exact;
  const after = headers["retry-after"];
  const seconds = amount(after);
  if (seconds !== undefined) return seconds * 1000;
  const date = after === undefined ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const reset = amount(headers["anthropic-ratelimit-unified-reset"]);
  return reset === undefined ? undefined : Math.max(0, reset * 1000 - now);
}

function amount(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
