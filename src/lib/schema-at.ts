import { z } from "zod";

/** The schema of one field inside another, whatever wraps it; undefined when there is no such field. */
export function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const part of path) at = at === undefined ? undefined : child(at, part);
  return at;
}

/** The keys that a mapping may have; empty for what is no mapping with fixed keys. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const at = schemaAt(schema, path);
  return at === undefined ? [] : branches(at).flatMap((branch) => (branch instanceof z.ZodObject ? Object.keys(branch.shape) : []));
}

/** The alternatives of a union, without what only makes a field optional; the schema itself when it is none. */
export function branches(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return branches(schema.unwrap());
  if (schema instanceof z.ZodLazy) return branches(schema.unwrap());
  if (schema instanceof z.ZodPipe) return branches(schema.in);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => branches(option));
  return [schema];
}

function child(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType | undefined {
  for (const branch of branches(schema)) {
    if (branch instanceof z.ZodObject && typeof part === "string" && Object.hasOwn(branch.shape, part)) return branch.shape[part] as z.core.$ZodType;
    if (branch instanceof z.ZodRecord) return branch.valueType;
    if (branch instanceof z.ZodArray && typeof part === "number") return branch.element;
  }
  return undefined;
}
