import { compareText, kindName, kindOf } from "./value.ts";
import { ValueFault } from "./value-fault.ts";

/** Go's eq on two values. Kinds that differ are an error, but nil may be compared with anything. */
export function equal(a: unknown, b: unknown): boolean {
  const [x, y] = [kindOf(a), kindOf(b)];
  if (x === "nil" || y === "nil") return x === y;
  const collection = [a, b].find((v) => typeof v === "object");
  if (collection !== undefined) throw new ValueFault(`${kindName(collection)} cannot be compared`, "compare a field of it, or its len");
  if (x !== y) throw new ValueFault(`incompatible types for comparison: ${kindName(a)} and ${kindName(b)}`);
  return a === b;
}

export function less(a: unknown, b: unknown): boolean {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b) < 0;
  if (typeof a === "number" && typeof b === "number") return a < b;
  for (const value of [a, b]) {
    if (typeof value !== "string" && typeof value !== "number") throw new ValueFault(`${kindName(value)} has no order`);
  }
  throw new ValueFault(`incompatible types for comparison: ${kindName(a)} and ${kindName(b)}`);
}
