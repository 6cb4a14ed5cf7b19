import { CruError } from "../../contract/error.ts";
import { jsonSchema, SCHEMA_KINDS } from "../../contract/json-schema.ts";
import { didYouMean } from "../../lib/nearest.ts";
import type { Run } from "../command.ts";

export const run: Run = async ({ args, io }) => {
  const [name = ""] = args;
  const kind = SCHEMA_KINDS.find((k) => k === name);
  if (kind === undefined) throw new CruError("usage", `there is no schema '${name}'`, { hint: didYouMean(name, SCHEMA_KINDS) });
  io.out(`${JSON.stringify(jsonSchema(kind), null, 2)}\n`);
  return 0;
};
