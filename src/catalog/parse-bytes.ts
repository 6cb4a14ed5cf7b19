import type { Fault } from "../contract/problem.ts";
import type { Parse, Parsed } from "./load-definitions.ts";

/** Bytes to definition: text guards first, then the parser of the kind. */
export function parseBytes<T>(bytes: Buffer, dialect: string, parse: Parse<T>): Parsed<T> {
  const nul = bytes.indexOf(0);
  if (nul >= 0) return refused(bytes, nul, "file.nul", "a NUL byte; this is not a text file");
  let text: string;
  try {
    text = DECODER.decode(bytes);
  } catch {
    return refused(bytes, firstInvalid(bytes), "file.not_utf8", "not valid UTF-8");
  }
  return parse(text, dialect);
}

const DECODER = new TextDecoder("utf-8", { fatal: true });

function refused<T>(bytes: Buffer, offset: number, code: Fault["code"], message: string): Parsed<T> {
  const before = bytes.subarray(0, offset).toString("latin1");
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  return { name: undefined, value: undefined, faults: [{ line, column, field: "", message, hint: "save the file as UTF-8 text", severity: "error", code }] };
}

function firstInvalid(bytes: Buffer): number {
  const lossy = bytes.toString("utf8");
  // A replacement character that the author wrote decodes to the same bytes; the first one that does not is the fault.
  let offset = 0;
  for (let from = 0, at = lossy.indexOf("\uFFFD"); at >= 0; from = at, at = lossy.indexOf("\uFFFD", at + 1)) {
    offset += Buffer.byteLength(lossy.slice(from, at));
    if (!bytes.subarray(offset, offset + 3).equals(REPLACEMENT)) return offset;
  }
  return 0;
}

const REPLACEMENT = Buffer.from("\uFFFD");
