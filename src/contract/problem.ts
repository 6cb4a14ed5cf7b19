/** What is wrong with a file that a user wrote. Loaders return these; one bad file never stops a start. */
export type Problem = {
  path: string;
  /** 1-based; 1 when the whole file is meant. */
  line: number;
  column: number;
  /** Dotted field, "" when the whole file is meant. */
  field: string;
  message: string;
  /** What to do about it, "" when there is nothing better to say than the message. */
  hint: string;
  severity: "error" | "warning";
  code: ProblemCode;
};

/** A problem that does not yet know which file it is in. */
export type Fault = Omit<Problem, "path">;

export type ProblemCode =
  | "file.unreadable"
  | "file.too_large"
  | "file.not_utf8"
  | "file.nul"
  | "file.outside"
  | "file.not_a_file"
  | "record.invalid"
  | "record.newer"
  | "frontmatter.missing"
  | "frontmatter.unclosed"
  | "frontmatter.empty"
  | "frontmatter.not_a_mapping"
  | "frontmatter.loose"
  | "yaml.syntax"
  | "yaml.duplicate_key"
  | "yaml.alias"
  | "yaml.merge_key"
  | "yaml.too_deep"
  | "yaml.too_many_nodes"
  | "yaml.tag"
  | "yaml.unsafe_key"
  | "yaml.several_documents"
  | "field.missing"
  | "field.unknown"
  | "field.type"
  | "field.value"
  | "field.duplicate"
  | "name.invalid"
  | "name.reserved"
  | "name.twin"
  | "name.shadowed"
  | "permission.unknown"
  | "tool.unknown"
  | "tool.pattern"
  | "model.unknown"
  | "prompt.empty"
  | "template.syntax"
  | "template.value"
  | "template.placeholder"
  | "include.not_found"
  | "include.cycle"
  | "include.depth"
  | "include.outside"
  | "setting.loosens"
  | "setting.reserved";

export function problemText(p: Problem): string {
  const field = p.field === "" ? "" : `${p.field}: `;
  const hint = p.hint === "" ? "" : ` (${p.hint})`;
  return `${p.path}:${p.line}:${p.column}: ${field}${p.message}${hint}`;
}
