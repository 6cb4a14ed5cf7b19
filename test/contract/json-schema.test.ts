import { describe, expect, it } from "vitest";
import { jsonSchema, SCHEMA_KINDS } from "../../src/contract/json-schema.ts";
import { PERMISSIONS } from "../../src/contract/permission.ts";

describe("JSON schemas for editors", () => {
  it.each(SCHEMA_KINDS)("%s is a draft-7 schema that survives JSON", (kind) => {
    const schema = jsonSchema(kind);
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema.$schema).toBe("http://json-schema.org/draft-07/schema#");
  });

  it("of an agent requires three fields, knows the permissions and takes no other key", () => {
    expect(jsonSchema("agent")).toMatchObject({
      required: ["name", "description", "permissions"],
      additionalProperties: false,
      properties: { permissions: { items: { enum: PERMISSIONS } } },
    });
  });
});
