import { type Event, parseEvents, YAMLException } from "js-yaml";
import type { Fault, ProblemCode } from "../contract/problem.ts";
import { type FieldPath, findEvent } from "./yaml-place.ts";
import { readSimpleYaml } from "./yaml-simple.ts";
import { buildValue } from "./yaml-value.ts";

export type Place = { line: number; column: number };

export type Yaml = {
  /** Undefined when there are faults, null when the text is empty. */
  value: unknown;
  faults: Fault[];
  /** Where a field stands in the file; the nearest parent when the field is missing. */
  locate(path: FieldPath, what: "key" | "value"): Place;
};

export const YAML_LIMITS = { characters: 131_072, depth: 32, nodes: 10_000 } as const;

/**
 * Reads one YAML document that a stranger may have written. Anchors without aliases are harmless; aliases, merge keys, tags,
 * several documents, duplicate and unsafe keys, depth and size beyond the limits are faults. Never throws for any text.
 */
export function readYaml(text: string, options: { firstLine?: number; maxCharacters?: number } = {}): Yaml {
  const firstLine = options.firstLine ?? 1;
  const most = options.maxCharacters ?? YAML_LIMITS.characters;
  const place = (offset: number): Place => placeOf(text, offset, firstLine);
  const refuse = (fault: Fault): Yaml => ({ value: undefined, faults: [fault], locate: () => ({ line: fault.line, column: fault.column }) });
  if (text.length > most) {
    return refuse({ ...fault("file.too_large", `the YAML is larger than ${most / 1024} KiB`, "move long text into the body"), line: firstLine, column: 1 });
  }
  const simple = readSimpleYaml(text);
  if (simple !== undefined) {
    return { value: simple, faults: [], locate: (path, what) => place(findEvent(text, parseEvents(text, { maxDepth: YAML_LIMITS.depth }), path, what)) };
  }
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
  } catch (error) {
    return refuse(syntaxFault(error, place));
  }
  const built = buildValue(text, events, YAML_LIMITS.nodes);
  const faults = built.faults.map(({ offset, ...rest }): Fault => ({ ...rest, severity: "error", ...place(offset) }));
  return { value: faults.length === 0 ? built.value : undefined, faults, locate: (path, what) => place(findEvent(text, events, path, what)) };
}

function fault(code: ProblemCode, message: string, hint: string): Fault {
  return { line: 1, column: 1, field: "", message, hint, severity: "error", code };
}

/** The parser has no codes, so its few reasons that deserve their own are told apart by their text. */
function syntaxFault(error: unknown, place: (offset: number) => Place): Fault {
  const [reason, offset] = error instanceof YAMLException ? [error.reason, error.mark?.position ?? 0] : ["it could not be read", 0];
  const at = place(offset);
  if (reason.startsWith("nesting exceeded")) return { ...fault("yaml.too_deep", `nested deeper than ${YAML_LIMITS.depth} levels`, "flatten it"), ...at };
  if (reason.startsWith("null byte")) return { ...fault("file.nul", "a NUL byte", "save the file as UTF-8 text"), ...at };
  if (reason.startsWith("deficient indentation")) {
    return { ...fault("yaml.syntax", "what stands above is not closed, or this is not indented", "close the quotes or brackets above, or indent this"), ...at };
  }
  return { ...fault("yaml.syntax", reason, syntaxHint(reason)), ...at };
}

function syntaxHint(reason: string): string {
  if (reason.startsWith("tab characters")) return "indent with spaces";
  if (/quoted scalar/.test(reason)) return "close the quotes";
  if (/flow collection|missed comma/.test(reason)) return "close the bracket, and put commas between values";
  if (/escape sequence|hexadecimal/.test(reason)) return "use single quotes, or write \\\\ for a backslash";
  if (/non-printable/.test(reason)) return "remove the control character";
  return "quote values that contain ': ' or start with a special character";
}

function placeOf(text: string, offset: number, firstLine: number): Place {
  const end = Math.max(0, Math.min(offset, text.length));
  let line = firstLine;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, column: end - start + 1 };
}
