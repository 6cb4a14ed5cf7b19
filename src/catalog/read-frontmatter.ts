import type { Fault, ProblemCode } from "../contract/problem.ts";
import { splitFrontmatter, YAML_LINE } from "../lib/frontmatter.ts";
import { readYaml, type Yaml } from "../lib/yaml.ts";

export type ReadFrontmatter = {
  /** Undefined when there are faults. */
  value: Record<string, unknown> | undefined;
  /** Undefined when there is no frontmatter. */
  yaml: Yaml | undefined;
  source: string;
  closed: boolean;
  /** Whether nothing stands below it. */
  empty: boolean;
  bodyLine: number;
  faults: Fault[];
};

export const MAX_FRONTMATTER = 65_536;

/** The frontmatter of a definition as a mapping, read strictly. */
export function readFrontmatter(text: string): ReadFrontmatter {
  const { yaml: source, closed, body, bodyLine } = splitFrontmatter(text);
  const parts = { source: source ?? "", closed, empty: body.trim() === "", bodyLine, value: undefined, yaml: undefined };
  if (source === undefined) return { ...parts, faults: [fault("frontmatter.missing", 1, "there is no frontmatter", "start the file with a line '---', then name, description and permissions, then '---'")] };
  if (!closed) return { ...parts, faults: [fault("frontmatter.unclosed", 1, "the frontmatter has no end", "close it with a line '---'")] };
  const yaml = readYaml(source, { firstLine: YAML_LINE, maxCharacters: MAX_FRONTMATTER });
  if (yaml.faults.length > 0) return { ...parts, yaml, faults: yaml.faults };
  if (yaml.value === null || yaml.value === undefined) return { ...parts, yaml, faults: [fault("frontmatter.empty", YAML_LINE, "the frontmatter is empty", "write name, description and permissions")] };
  if (!isMapping(yaml.value)) return { ...parts, yaml, faults: [fault("frontmatter.not_a_mapping", YAML_LINE, "the frontmatter is not a list of 'key: value' lines", "write name, description and permissions, one per line")] };
  return { ...parts, yaml, value: yaml.value, faults: [] };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(code: ProblemCode, line: number, message: string, hint: string): Fault {
  return { line, column: 1, field: "", message, hint, severity: "error", code };
}
