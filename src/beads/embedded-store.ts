import { existsSync, lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { type Bead, beadSchema } from "../contract/bead.ts";
import { CruError } from "../contract/error.ts";
import type { Problem } from "../contract/problem.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import type { Clock } from "../lib/clock.ts";
import { nearest } from "../lib/nearest.ts";
import { withLock } from "../lib/with-lock.ts";
import { beadFileContent, type BeadLine, currentLines, readBeadFile } from "./bead-file.ts";
import { newBeadId } from "./bead-id.ts";
import type { BeadChange, BeadStore, NewBead } from "./bead-store.ts";
import { editRecord } from "./edit-record.ts";

export type EmbeddedStoreInput = {
  /** The main checkout. */
  root: string;
  /** `.beads` there. */
  folder: string;
  lockFile: string;
};

/** Beads in `.beads/issues.jsonl`: read whole, changed under a lock, replaced in one step. What others wrote into the file stays as it is. */
export function openEmbeddedStore(input: EmbeddedStoreInput, deps: { clock: Pick<Clock, "now"> }): BeadStore {
  const path = join(input.folder, "issues.jsonl");
  const now = (): string => deps.clock.now().toISOString();

  async function write<T>(job: (lines: BeadLine[]) => { lines: { bytes: Buffer }[]; result: T }): Promise<T> {
    refuseOthers(input.folder);
    return withLock(input.lockFile, "the bead store", async () => {
      const { lines, mode } = readBeadFile(path);
      const { lines: after, result } = job(lines);
      atomicWrite(path, beadFileContent(after), { mode });
      return result;
    });
  }

  function change(id: string, changes: (bead: Bead, at: string) => Record<string, unknown>): Promise<Bead> {
    return write((lines) => {
      const current = currentLines(lines);
      const line = current.get(id);
      if (line?.bead === undefined || line.text === undefined) throw beadNotFound(id, [...current.keys()]);
      const at = now();
      const text = editRecord(line.text, { ...changes(line.bead, at), updated_at: at });
      const result = beadSchema.parse(JSON.parse(text.replace(/^\ufeff/, "")));
      return { lines: lines.map((other) => (other === line ? { bytes: Buffer.from(text) } : other)), result };
    });
  }

  return {
    async list() {
      const { lines } = readBeadFile(path);
      const current = new Set(currentLines(lines).values());
      const shown = join(basename(input.folder), basename(path));
      return { items: lines.flatMap((line) => (line.bead !== undefined && current.has(line) ? [line.bead] : [])), problems: problemsOf(lines, current, shown) };
    },
    async get(id) {
      return currentLines(readBeadFile(path).lines).get(id)?.bead;
    },
    create: (bead) =>
      write((lines) => {
        const id = newBeadId(new Set(lines.flatMap((line) => line.id ?? [])), basename(input.root));
        const text = JSON.stringify(newRecord(id, bead, now()));
        return { lines: [...lines, { bytes: Buffer.from(text) }], result: beadSchema.parse(JSON.parse(text)) };
      }),
    update: (id, wanted) => change(id, (bead, at) => changesFor(bead, wanted, at)),
    close: (id, { reason } = {}) => change(id, (bead, at) => ({ ...changesFor(bead, { status: "closed" }, at), ...(reason === undefined ? {} : { close_reason: reason }) })),
  };
}

export function beadNotFound(id: string, known: readonly string[]): CruError {
  const near = nearest(id, known);
  return new CruError("not_found", `there is no bead '${id}'`, { hint: near === undefined ? "cru beads list shows them all" : `did you mean '${near}'?` });
}

function newRecord(id: string, bead: NewBead, at: string): Record<string, unknown> {
  const { title, description, design, acceptance_criteria, notes, assignee } = bead;
  const status = bead.status ?? "open";
  return {
    id, title, description, design, acceptance_criteria, notes, status,
    priority: bead.priority ?? 2,
    issue_type: bead.issue_type ?? "task",
    assignee,
    labels: bead.labels === undefined || bead.labels.length === 0 ? undefined : [...new Set(bead.labels)],
    created_at: at,
    updated_at: at,
    closed_at: status === "closed" ? at : undefined,
  };
}

function changesFor(bead: Bead, wanted: BeadChange, at: string): Record<string, unknown> {
  const { addLabels = [], removeLabels = [], ...fields } = wanted;
  const changes: Record<string, unknown> = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (addLabels.length > 0 || removeLabels.length > 0) changes.labels = [...new Set([...bead.labels, ...addLabels])].filter((label) => !removeLabels.includes(label));
  const { status } = wanted;
  if (status === "closed" && bead.status !== "closed") changes.closed_at = at;
  if (status !== undefined && status !== "closed" && bead.status === "closed") Object.assign(changes, { closed_at: undefined, close_reason: undefined });
  return changes;
}

/** Newer versions of beads keep the truth in a database; what we wrote into its export would be lost. */
function refuseOthers(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw new CruError("unsupported", `${folder} is not a plain folder`, { hint: "a link there would lead writes elsewhere" });
  const database = ["embeddeddolt", "dolt"].find((name) => existsSync(join(folder, name)));
  if (database === undefined) return;
  throw new CruError("unsupported", `the beads of this project are kept in the database .beads/${database}; issues.jsonl is only its export`, { hint: "change them with the `bd` program" });
}

function problemsOf(lines: readonly BeadLine[], current: ReadonlySet<BeadLine>, path: string): Problem[] {
  return lines.flatMap((line, index): Problem[] => {
    if (line.fault !== undefined) return [{ path, ...line.fault }];
    if (line.bead === undefined || current.has(line)) return [];
    return [{ path, line: index + 1, column: 1, field: "id", message: `'${line.bead.id}' stands in another line too, which is newer`, hint: "remove one of them", severity: "warning", code: "name.twin" }];
  });
}
