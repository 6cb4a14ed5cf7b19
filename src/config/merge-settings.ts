import { DEFAULT_SETTINGS, type Settings } from "../contract/settings-defaults.ts";
import { entriesOf, type Layer, type Origin, setAt, valueAt } from "./layer.ts";

/** Lays checked layers over the built-in settings, lowest first. Maps merge by name, lists replace each other; only denials add up, so that no layer can take back another's. */
export function mergeSettings(layers: readonly Layer[]): { settings: Settings; origin: Record<string, Origin> } {
  const settings = structuredClone(DEFAULT_SETTINGS) as Settings & Record<string, unknown>;
  const origin: Record<string, Origin> = {};
  for (const [path] of entriesOf(settings)) origin[path.join(".")] = { layer: "builtin" };
  for (const layer of layers.filter((l) => l.used)) {
    for (const [path, value] of entriesOf(layer.value)) {
      const key = path.join(".");
      if (key === "$schema") continue;
      if (key !== "permissions.deny") setAt(settings, path, structuredClone(value));
      else if (Array.isArray(value) && value.length === 0) continue;
      else setAt(settings, path, [...new Set([...(valueAt(settings, path) as unknown[]), ...(value as unknown[])])]);
      origin[key] = layer.place(path);
    }
  }
  return { settings, origin };
}
