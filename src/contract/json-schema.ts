import { z } from "zod";
import { agentSchema } from "./agent.ts";
import { eventSchema } from "./event.ts";
import { grimoireSchema } from "./grimoire.ts";
import { settingsSchema } from "./settings.ts";

const TITLES = { agent: "Crucible agent", grimoire: "Crucible grimoire", config: "Crucible settings", event: "Crucible event" };
const SCHEMAS = { agent: agentSchema, grimoire: grimoireSchema, config: settingsSchema, event: eventSchema };

export type SchemaKind = keyof typeof SCHEMAS;
export const SCHEMA_KINDS = Object.keys(SCHEMAS) as SchemaKind[];

/** The JSON Schema of what a user writes (or of our events), for editors and other programs. */
export function jsonSchema(kind: SchemaKind): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(SCHEMAS[kind], { target: "draft-7", io: "input", unrepresentable: "any" });
  return { $schema, $id: `urn:crucible:schema:${kind}:1`, title: TITLES[kind], ...schema };
}
