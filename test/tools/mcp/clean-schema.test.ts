import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanSchema, type JsonSchema } from "../../../src/tools/mcp/clean-schema.ts";
import { inputFaults } from "../../../src/tools/mcp/input-faults.ts";

const clean = (raw: unknown): JsonSchema => {
  const cleaned = cleanSchema(raw);
  expect(cleaned.ok).toBe(true);
  return (cleaned as { schema: JsonSchema }).schema;
};

describe("cleanSchema", () => {
  it("leaves a good schema as it is", () => {
    const schema = {
      type: "object", required: ["a"], additionalProperties: false, $defs: { n: { type: "null" } },
      properties: {
        a: { type: ["string", "null"], description: "words", pattern: "^a+$", minLength: 1, enum: ["a", "aa"], default: "a" },
        b: { type: "array", items: { $ref: "#/$defs/n" }, minItems: 1, uniqueItems: true },
        c: { anyOf: [{ type: "integer", minimum: 0, exclusiveMaximum: 9, multipleOf: 2 }, { const: { deep: [1] } }, true] },
      },
    };
    expect(clean(schema)).toEqual(schema);
  });

  it("drops what is malformed and what a provider refuses at the top", () => {
    expect(clean({ oneOf: [{}], $ref: "#/x", $schema: "y", properties: { a: { type: "text", anyOf: [], allOf: [7], enum: [], maxLength: -1, format: "a\u001b", exclusiveMinimum: true, additionalProperties: "no" } } }))
      .toEqual({ type: "object", properties: { a: {} } });
    expect(clean({})).toEqual({ type: "object", properties: {} });
  });

  it("what is nested without end is cut or refused, never a crash", () => {
    const deep = JSON.parse(`{"type":"object","properties":{"a":${'{"items":'.repeat(60)}{}${"}".repeat(60)}}}`) as unknown;
    expect(JSON.stringify(clean(deep)).length).toBeLessThan(400);
    const endless = JSON.parse(`{"default":${"[".repeat(30_000)}${"]".repeat(30_000)}}`) as unknown;
    expect(cleanSchema({ properties: { a: endless } }).ok).toBeTypeOf("boolean");
  });

  it("whatever a server sends comes out as an object schema that cleaning leaves alone, or as a fault", () => {
    const words = ["type", "properties", "items", "enum", "required", "anyOf", "pattern", "$ref", "then", "__proto__", "description", "default", "object", "string", "#/a"];
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, fc.constantFrom(...words), fc.integer(), fc.boolean(), fc.constant(null), fc.array(tie("value"), { maxLength: 3 }), fc.dictionary(fc.constantFrom(...words), tie("value"), { maxKeys: 4 })),
    })).value;
    const tool = fc.record({ type: fc.constant("object"), properties: fc.dictionary(fc.constantFrom("a", "b"), json), required: json, description: json });
    let usable = 0;
    fc.assert(fc.property(fc.oneof(tool, json), (raw) => {
      const cleaned = cleanSchema(raw);
      if (!cleaned.ok) return cleaned.fault !== "";
      usable += 1;
      const again = cleanSchema(cleaned.schema);
      return cleaned.schema.type === "object" && again.ok && JSON.stringify(again.schema) === JSON.stringify(cleaned.schema);
    }), { numRuns: 500, seed: 7 });
    expect(usable).toBeGreaterThan(100);
  });
});

describe("inputFaults", () => {
  const schema = {
    type: "object", required: ["mode"], additionalProperties: false,
    properties: { mode: { enum: ["a", "b"] }, list: { type: "array", items: { type: "object", required: ["n"], properties: { n: { type: "integer" } } } }, any: { $ref: "#/x", type: "string" } },
  };

  it.each([
    [{ mode: "a" }, []],
    [{ mode: "a", list: [{ n: 1 }], any: 5 }, []],
    [{}, ["mode: is missing"]],
    [{ mode: "c" }, ['mode: expected one of "a", "b"']],
    [{ mode: "a", list: [{ n: 1.5 }, {}] }, ["list.0.n: expected integer", "list.1.n: is missing"]],
    [{ mode: "a", list: {} }, ["list: expected array"]],
    [{ mode: "a", other: 1, constructor: 2 }, ["other: is not an argument of this tool", "constructor: is not an argument of this tool"]],
    ["text", [": expected object"]],
  ])("%j", (input, faults) => {
    expect(inputFaults(input, schema).map((fault) => `${fault.path.join(".")}: ${fault.message}`)).toEqual(faults);
  });
});
