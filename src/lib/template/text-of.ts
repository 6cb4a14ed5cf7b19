import { isWhole, kindOf } from "./value.ts";
import { ValueFault } from "./value-fault.ts";

/** A value as text: scalars as Go prints them, nothing for nil, JSON for lists and maps. */
export function textOf(value: unknown): string {
  switch (kindOf(value)) {
    case "string":
      return value as string;
    case "number":
      return numberText(value as number);
    case "bool":
      return String(value);
    case "nil":
      return "";
    default:
      return jsonOf(value);
  }
}

export function numberText(value: number): string {
  if (isWhole(value)) return String(value + 0);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  return shortest(value);
}

/** Go's %g with the fewest digits: it writes an exponent below -4 and from 6 on. */
function shortest(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 6) return `${digits}e${exponentText(power)}`;
  return String(value);
}

/** Go writes at least two digits. */
export function exponentText(power: number): string {
  return `${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    throw new ValueFault("this value cannot be written as JSON");
  }
}
