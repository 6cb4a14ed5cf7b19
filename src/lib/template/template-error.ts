import { CruError } from "../../contract/error.ts";
import type { ProblemCode } from "../../contract/problem.ts";

export type TemplateFault = Extract<ProblemCode, `template.${string}` | `include.${string}`>;

/** A mistake in a template, at the place where it is. The message starts with `name:line:column: `; `reason` is the rest. */
export class TemplateError extends CruError {
  readonly fault: TemplateFault;
  readonly template: string;
  readonly line: number;
  readonly column: number;
  readonly reason: string;

  constructor(place: Place, reason: string, options: { hint?: string | undefined; fault?: TemplateFault } = {}) {
    super("invalid_template", `${place.name}:${place.line}:${place.column}: ${reason}`, options.hint === undefined ? {} : { hint: options.hint });
    this.fault = options.fault ?? "template.syntax";
    this.template = place.name;
    this.line = place.line;
    this.column = place.column;
    this.reason = reason;
  }
}

export type Place = { name: string; line: number; column: number };

/** Lines and columns count from 1; a column is one UTF-16 unit, as editors count. */
export function placeOf(source: { name: string; text: string }, offset: number): Place {
  let line = 1;
  let start = 0;
  for (let at = source.text.indexOf("\n"); at >= 0 && at < offset; at = source.text.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { name: source.name, line, column: offset - start + 1 };
}
