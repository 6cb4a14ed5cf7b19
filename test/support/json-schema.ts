type Schema = Record<string, unknown>;

/** Checks a value against the part of JSON Schema that ours use; returns where it does not fit. Enough to prove that a schema tells good from bad. */
export function schemaMisfits(value: unknown, schema: unknown, root: Schema = schema as Schema, path = "$"): string[] {
  if (typeof schema === "boolean") return schema ? [] : [`${path}: nothing is allowed`];
  const s = schema as Schema;
  if (typeof s.$ref === "string") return schemaMisfits(value, resolve(s.$ref, root), root, path);
  const faults: string[] = [];
  for (const part of (s.allOf as Schema[]) ?? []) faults.push(...schemaMisfits(value, part, root, path));
  for (const key of ["anyOf", "oneOf"] as const) {
    const options = s[key] as Schema[] | undefined;
    if (options !== undefined && !options.some((option) => schemaMisfits(value, option, root, path).length === 0)) faults.push(`${path}: fits none of ${key}`);
  }
  if (s.const !== undefined && value !== s.const) faults.push(`${path}: not ${JSON.stringify(s.const)}`);
  if (s.enum !== undefined && !(s.enum as unknown[]).includes(value)) faults.push(`${path}: not in the enum`);
  if (s.type !== undefined && ![s.type].flat().some((type) => isType(value, type as string))) return [...faults, `${path}: not ${JSON.stringify(s.type)}`];
  if (typeof value === "number") faults.push(...range(value, s, path));
  if (typeof value === "string" && typeof s.minLength === "number" && value.length < s.minLength) faults.push(`${path}: too short`);
  if (Array.isArray(value)) {
    if (typeof s.minItems === "number" && value.length < s.minItems) faults.push(`${path}: too few`);
    if (s.items !== undefined) faults.push(...value.flatMap((item, i) => schemaMisfits(item, s.items, root, `${path}.${i}`)));
  } else if (typeof value === "object" && value !== null) faults.push(...members(value as Schema, s, root, path));
  return faults;
}

function members(value: Schema, s: Schema, root: Schema, path: string): string[] {
  const faults = ((s.required as string[]) ?? []).filter((key) => !Object.hasOwn(value, key)).map((key) => `${path}.${key}: missing`);
  const properties = (s.properties as Schema) ?? {};
  for (const [key, inner] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : (s.additionalProperties ?? true);
    faults.push(...schemaMisfits(inner, known, root, `${path}.${key}`));
  }
  return faults;
}

function range(value: number, s: Schema, path: string): string[] {
  const low = (typeof s.minimum === "number" && value < s.minimum) || (typeof s.exclusiveMinimum === "number" && value <= s.exclusiveMinimum);
  const high = typeof s.maximum === "number" && value > s.maximum;
  return low || high ? [`${path}: out of range`] : [];
}

function isType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

function resolve(ref: string, root: Schema): unknown {
  return ref === "#" ? root : ref.slice(2).split("/").reduce<unknown>((at, part) => (at as Schema)[part], root);
}
