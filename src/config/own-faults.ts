import { isModelAlias, looksLikeModelId, MODEL_ALIASES } from "../contract/model.ts";
import { BASELINE } from "../contract/permission.ts";
import { didYouMeanOr } from "../lib/nearest.ts";
import type { SchemaFault } from "../lib/schema-faults.ts";
import { valueAt } from "./layer.ts";

/** What a schema cannot say about settings: words that are spelled right and still make no sense. */
export function ownFaults(layer: unknown): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const model = valueAt(layer, ["model"]);
  if (typeof model === "string" && !isModelAlias(model) && !looksLikeModelId(model)) {
    faults.push({ path: ["model"], at: "value", code: "model.unknown", message: `unknown model '${model}'`, hint: didYouMeanOr(model, Object.keys(MODEL_ALIASES), "a full model id") });
  }
  const deny = valueAt(layer, ["permissions", "deny"]);
  for (const [index, permission] of Array.isArray(deny) ? deny.entries() : []) {
    if (!(BASELINE as readonly unknown[]).includes(permission)) continue;
    faults.push({
      path: ["permissions", "deny", index], at: "value", code: "field.value",
      message: `${String(permission)} cannot be denied: every agent has it`, hint: "remove it from the list",
    });
  }
  return faults;
}
