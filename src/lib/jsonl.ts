import { appendFileSync, closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, truncateSync, writeSync } from "node:fs";
import { CruError } from "../contract/error.ts";

export type JsonRecord = Record<string, unknown>;

export type JsonlFile = {
  /**
   * Whole lines in one write: lines of several processes never mix. Throws, and takes a half-written line back, when the disk refuses.
   * `soon`: written before the next other record and at the latest when the running code has come to its end, many lines at once; what a
   * disk refuses then is thrown by the next call.
   */
  append(record: JsonRecord, options?: { sync?: boolean; soon?: boolean }): void;
  sync(): void;
  close(): void;
};

const MOST_HELD = 256 * 1024;

export function openJsonl(path: string): JsonlFile {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  let held = "";
  let fault: unknown;

  const flush = (more = ""): void => {
    if (fault !== undefined) throw fault;
    const text = held + more;
    held = "";
    if (text !== "") appendLines(file, Buffer.from(text));
  };
  const flushHeld = (): void => {
    try {
      flush();
    } catch (error) {
      fault ??= error;
    }
  };

  return {
    append(record, { sync = false, soon = false } = {}) {
      const line = `${JSON.stringify(record)}\n`;
      if (soon && held.length + line.length < MOST_HELD) {
        if (fault !== undefined) throw fault;
        if (held === "") queueMicrotask(flushHeld);
        held += line;
        return;
      }
      flush(line);
      if (sync) fdatasyncSync(file);
    },
    sync() {
      flush();
      fdatasyncSync(file);
    },
    close() {
      flushHeld();
      closeSync(file);
    },
  };
}

export type JsonlRead = {
  records: JsonRecord[];
  /** The file up to here is sound. */
  soundBytes: number;
  totalBytes: number;
  /** What stands after the sound part; undefined when there is nothing. */
  fault: string | undefined;
};

/**
 * The valid prefix of the file; a missing file is empty. Reads only: the tail of a live file may be a line that is being written.
 * A last line without its newline counts when it is a whole record, and so do several records on one line.
 */
export function readJsonl(path: string, options: { version: number }): JsonlRead {
  const result: JsonlRead = { records: [], soundBytes: 0, totalBytes: 0, fault: undefined };
  for (const line of lines(path)) {
    result.totalBytes = line.end;
    if (result.fault !== undefined) continue;
    const { records, rest } = recordsOf(line.bytes);
    for (const record of records) refuseNewer(record, options.version, path);
    result.records.push(...records);
    result.soundBytes = line.end - (rest === 0 ? 0 : rest + (line.closed ? 1 : 0));
    if (rest > 0) result.fault = line.closed ? "a line that is not a record" : "a line that was cut off";
  }
  return result;
}

/**
 * Makes the file fit for appending: what is not sound moves to `<file>.corrupt`. Only for the owner, who holds the lock.
 * Returns the one warning to show, undefined when all was well.
 */
export function repairJsonl(path: string, read: JsonlRead): string | undefined {
  if (read.totalBytes === 0) return undefined;
  if (read.fault !== undefined) {
    const file = openSync(path, "r");
    try {
      for (let at = read.soundBytes; ; ) {
        const chunk = Buffer.allocUnsafe(CHUNK);
        const count = readSync(file, chunk, 0, CHUNK, at);
        if (count === 0) break;
        appendFileSync(`${path}.corrupt`, chunk.subarray(0, count), { mode: 0o600 });
        at += count;
      }
    } finally {
      closeSync(file);
    }
    truncateSync(path, read.soundBytes);
  }
  endWithNewline(path);
  const bytes = read.totalBytes - read.soundBytes;
  return read.fault === undefined ? undefined : `${path}: ${read.fault}; ${bytes} bytes were moved to ${path}.corrupt`;
}

const CHUNK = 1 << 20;
const NEWLINE = 0x0a;

function appendLines(file: number, line: Buffer): void {
  const written = writeSync(file, line);
  if (written === line.length) return;
  // The disk has no more room: a half line is taken back when nobody has written behind it.
  const size = fstatSync(file).size;
  const tail = Buffer.alloc(written);
  readSync(file, tail, 0, written, size - written);
  if (tail.equals(line.subarray(0, written))) ftruncateSync(file, size - written);
  throw Object.assign(new Error("no space left to write a record"), { code: "ENOSPC", syscall: "write" });
}

function endWithNewline(path: string): void {
  const file = openSync(path, constants.O_APPEND | constants.O_RDWR);
  try {
    const size = fstatSync(file).size;
    const last = Buffer.alloc(1);
    if (size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE) writeSync(file, "\n");
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

type Line = { bytes: Buffer; end: number; closed: boolean };

function* lines(path: string): Generator<Line> {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    let parts: Buffer[] = [];
    let end = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = readSync(file, chunk, 0, CHUNK, null);
      if (count === 0) break;
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < count; at = chunk.indexOf(NEWLINE, from)) {
        parts.push(chunk.subarray(from, at));
        const bytes = parts.length === 1 ? (parts[0] ?? chunk) : Buffer.concat(parts);
        end += bytes.length + 1;
        yield { bytes, end, closed: true };
        parts = [];
        from = at + 1;
      }
      if (from < count) parts.push(chunk.subarray(from, count));
    }
    const rest = Buffer.concat(parts);
    if (rest.length > 0) yield { bytes: rest, end: end + rest.length, closed: false };
  } finally {
    closeSync(file);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The records at the start of a line, and how many bytes after them are none. */
function recordsOf(bytes: Buffer): { records: JsonRecord[]; rest: number } {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { records: [], rest: bytes.length };
  }
  if (text.trim() === "") return { records: [], rest: 0 };
  const whole = parse(text);
  return whole === undefined ? severalRecords(text) : { records: [whole], rest: 0 };
}

/** Two records on one line: a newline got lost between them. Cuts where a bracket outside strings closes. */
function severalRecords(text: string): { records: JsonRecord[]; rest: number } {
  const records: JsonRecord[] = [];
  let [depth, start, inString, escaped] = [0, 0, false, false];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (escaped) escaped = false;
      else if (c === "\\") escaped = true;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) {
      const record = parse(text.slice(start, i + 1));
      if (record === undefined) break;
      records.push(record);
      start = i + 1;
    }
  }
  const rest = text.slice(start);
  return { records, rest: rest.trim() === "" ? 0 : Buffer.byteLength(rest) };
}

function parse(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonRecord) : undefined;
  } catch {
    return undefined;
  }
}

function refuseNewer(record: JsonRecord, version: number, path: string): void {
  if (typeof record.v === "number" && record.v > version) {
    throw new CruError("unsupported", `${path} was written by a newer Crucible (version ${record.v}, this one reads ${version})`, { hint: "update Crucible" });
  }
}
