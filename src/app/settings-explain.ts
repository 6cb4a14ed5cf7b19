import { entriesOf, type LayerName, type Origin, valueAt } from "../config/layer.ts";
import type { LoadedSettings } from "../config/load-settings.ts";
import { variableName } from "../config/environment.ts";
import { CruError } from "../contract/error.ts";
import { DEFAULT_SETTINGS } from "../contract/settings-defaults.ts";

export type Said = Origin & { value: unknown; used: boolean };

export type Explained = Origin & {
  key: string;
  value: unknown;
  /** The variable that would set it. */
  environment: string;
  /** What each layer says, the strongest first. */
  said: Said[];
};

/** Every setting under a key with the layer that won and what the others said. */
export function explainSettings(loaded: LoadedSettings, path: readonly string[]): Explained[] {
  const all = [...entriesOf(loaded.settings)].filter(([key]) => path.every((part, i) => key[i] === part));
  if (all.length === 0) throw notSet(path);
  return all.map(([key, value]) => {
    const name = key.join(".");
    return { key: name, value, environment: variableName(key), ...(loaded.origin[name] ?? builtin()), said: saidAbout(loaded, key) };
  });
}

/** The value of a key, a section as a whole. */
export function settingValue(loaded: LoadedSettings, path: readonly string[]): unknown {
  const value = valueAt(loaded.settings, path);
  if (value === undefined) throw notSet(path);
  return value;
}

function saidAbout(loaded: LoadedSettings, key: readonly string[]): Said[] {
  const said: Said[] = [];
  for (const layer of loaded.layers.toReversed()) {
    const value = valueAt(layer.value, key);
    if (value !== undefined) said.push({ ...layer.place(key), value, used: layer.used });
  }
  const first = valueAt(DEFAULT_SETTINGS, key);
  return first === undefined ? said : [...said, { ...builtin(), value: first, used: true }];
}

function builtin(): { layer: LayerName } {
  return { layer: "builtin" };
}

function notSet(path: readonly string[]): CruError {
  return new CruError("not_found", `'${path.join(".")}' is not set`, { hint: `set it with \`cru config set ${path.join(".")} VALUE\`` });
}
