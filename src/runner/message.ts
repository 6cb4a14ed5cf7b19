/** One line of an agent program. Read tolerantly: fields come and go between versions, and their order is not stable. */
export type Message = Record<string, unknown>;

const BRACE = 0x7b;

export function parseMessage(line: string): Message | undefined {
  if (line.charCodeAt(0) !== BRACE && !/^\s*\{/.test(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function record(value: unknown): Message {
  return isRecord(value) ? value : {};
}

export function records(value: unknown): Message[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Never negative, never NaN: it is counted with. */
export function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function isRecord(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
