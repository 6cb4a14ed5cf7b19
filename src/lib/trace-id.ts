import { randomBytes } from "node:crypto";

/** 32 hex digits, one per user request or run. */
export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

/** 16 hex digits, one per agent. */
export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}
