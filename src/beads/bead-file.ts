import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type Bead, beadSchema } from "../contract/bead.ts";
import { CruError } from "../contract/error.ts";
import type { Fault } from "../contract/problem.ts";

/** One line as it stands in the file; `bead` when it is a sound one. */
export type BeadLine = { bytes: Buffer; text?: string; id?: string; bead?: Bead; fault?: Fault };

export function readBeadFile(path: string): { lines: BeadLine[]; mode: number } {
  let file: number;
  try {
    // A link could bring a file from elsewhere into the repository with the next write; a FIFO must not hang us.
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { lines: [], mode: 0o666 };
    if (code === "ELOOP") throw new CruError("unsupported", `${path} is a link`, { hint: "put the file itself there" });
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new CruError("unsupported", `${path} is not a regular file`);
    return { lines: splitLines(readFileSync(file)).map(parseLine), mode: stat.mode & 0o777 };
  } finally {
    closeSync(file);
  }
}

export function beadFileContent(lines: readonly Pick<BeadLine, "bytes">[]): Buffer {
  return Buffer.concat(lines.flatMap(({ bytes }) => [bytes, NEWLINE]));
}

/** Of lines with the same id the one that was changed last counts, else the later one. */
export function currentLines(lines: readonly BeadLine[]): Map<string, BeadLine> {
  const current = new Map<string, BeadLine>();
  for (const line of lines) {
    if (line.bead === undefined) continue;
    const other = current.get(line.bead.id);
    if (other === undefined || (line.bead.updated_at ?? "") >= (other.bead?.updated_at ?? "")) current.set(line.bead.id, line);
  }
  return current;
}

const NEWLINE = Buffer.from("\n");
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function splitLines(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(0x0a, from);
    const end = at < 0 ? bytes.length : at;
    found.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return found;
}

function parseLine(bytes: Buffer, index: number): BeadLine {
  const fault = (message: string, field = ""): BeadLine => ({
    bytes,
    fault: { line: index + 1, column: 1, field, message, hint: "the line is kept as it is; mend or remove it by hand", severity: "error", code: "record.invalid" },
  });
  let record: unknown;
  let text: string;
  try {
    text = decoder.decode(bytes);
    if (text.trim() === "") return { bytes };
    record = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return fault("not a line of JSON");
  }
  if (typeof record !== "object" || record === null || Array.isArray(record)) return fault("not a JSON object");
  const { _type: type, id } = record as Record<string, unknown>;
  // Newer beads keep records of other kinds in the same file.
  if (typeof type === "string" && type !== "issue") return { bytes, text };
  const known = typeof id === "string" ? { id } : {};
  const parsed = beadSchema.safeParse(record);
  if (parsed.success) return { bytes, text, ...known, bead: parsed.data };
  const issue = parsed.error.issues[0];
  return { ...fault(issue?.message ?? "not a bead", issue?.path.join(".")), ...known };
}
