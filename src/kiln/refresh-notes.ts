import { lstatSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Analyser, quantise } from "./analyse-note.ts";
import type { Embedder } from "./embedder.ts";
import { findNotes, type NotesPlace } from "./find-notes.ts";
import { type KeptNote, saveNotes, type StorePlace } from "./note-store.ts";
import { type ParsedNote, parseNote } from "./parse-note.ts";
import { createNoteReader, type NoteFile, seenOf } from "./read-note-file.ts";

export type RefreshFigures = {
  notes: number;
  added: number;
  changed: number;
  removed: number;
  /** Listed but not readable as text: links, binary files, files that are gone. */
  skipped: number;
  /** Why some notes are found by their words only. */
  embeddingFailure: string | undefined;
};

type Deps = {
  analyser: Analyser;
  store: StorePlace;
  /** Undefined: the analyser's word vectors. */
  embedder: Embedder | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
};

const BATCH = 500;
/** No file has this. */
const UNSURE = -1;
/** File systems tell times in steps; a file written right before it was read may change again within the same step. */
const CLOCK_STEP_MS = 50;

/** Brings the notes in memory and in the store up to date. Unchanged files cost one lstat. Stopped early, it keeps what it has. */
export async function refreshNotes(place: NotesPlace, notes: Map<string, KeptNote>, deps: Deps): Promise<RefreshFigures> {
  const figures: RefreshFigures = { notes: notes.size, added: 0, changed: 0, removed: 0, skipped: 0, embeddingFailure: undefined };
  const paths = await findNotes(place, deps.signal);
  // A list that was cut short must not look as if notes were gone.
  const isStopped = (): boolean => deps.signal?.aborted === true;
  if (isStopped()) return figures;
  const reader = createNoteReader(place.root);
  const gone = new Map(notes);
  let batch: { note: KeptNote; parsed: ParsedNote }[] = [];
  let isChanged = false;
  const embed = async (): Promise<void> => {
    if (batch.length === 0) return;
    figures.embeddingFailure ??= await embedBatch(batch, gone, deps);
    batch = [];
    // Vectors may have cost money: they are kept even if the rest is never reached.
    saveNotes(deps.store, { notes: [...notes.values()], vocabulary: deps.analyser.table.vocabulary });
  };

  for (const [done, path] of paths.entries()) {
    if (done % BATCH === BATCH - 1) {
      await embed();
      deps.onProgress?.(done, paths.length);
      // Whoever else lives in this process gets a turn.
      await new Promise((next) => setImmediate(next));
      if (isStopped()) return { ...figures, notes: notes.size };
    }
    const old = notes.get(path);
    if (old !== undefined && old.seen === seenNow(`${place.root}/${path}`) && reader.isPlain(path)) {
      gone.delete(path);
      continue;
    }
    const file = reader.read(path);
    if (file === undefined) {
      figures.skipped++;
      continue;
    }
    gone.delete(path);
    const hash = hashOf(file.bytes);
    if (old !== undefined && old.hash === hash) {
      const now = settled(file);
      isChanged ||= now !== old.seen;
      old.seen = now;
      continue;
    }
    const parsed = parseNote(path, file.text);
    const note: KeptNote = {
      path, seen: settled(file), hash, title: owned(parsed.title), tags: parsed.tags.map(owned), aliases: parsed.aliases.map(owned),
      ...deps.analyser.note(path, parsed, { vectors: deps.embedder === undefined }),
    };
    if (deps.embedder !== undefined) batch.push({ note, parsed });
    notes.set(path, note);
    if (old === undefined) figures.added++;
    else figures.changed++;
  }
  await embed();
  for (const path of gone.keys()) notes.delete(path);
  if (isChanged || figures.added + figures.changed + gone.size > 0) saveNotes(deps.store, { notes: [...notes.values()], vocabulary: deps.analyser.table.vocabulary });
  deps.onProgress?.(paths.length, paths.length);
  return { ...figures, notes: notes.size, removed: gone.size };
}

function seenNow(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? seenOf(stat) : undefined;
}

/** Tells a note that was only touched, and one that was only renamed. */
function hashOf(bytes: Buffer): number {
  return crc32(bytes) + (bytes.length % 2 ** 20) * 2 ** 32;
}

/** A part of a text keeps the whole text in memory; a copy does not. */
function owned(part: string): string {
  return Buffer.from(part).toString();
}

/** `UNSURE`, and so read again next time, when the file is too young to be sure of. */
function settled(file: NoteFile): number {
  return Date.now() - file.modifiedMs < CLOCK_STEP_MS ? UNSURE : file.seen;
}

/** A note that was only renamed keeps its vectors. One that could not be embedded is found by its words and tried again next time. */
async function embedBatch(texts: { note: KeptNote; parsed: ParsedNote }[], gone: Map<string, KeptNote>, deps: Deps): Promise<string | undefined> {
  const known = new Map([...gone.values()].map((note) => [note.hash, note.vectors]));
  const sections: { note: KeptNote; text: string }[] = [];
  for (const { note, parsed } of texts) {
    const kept = known.get(note.hash);
    if (kept !== undefined) note.vectors = kept;
    else for (const section of parsed.sections.slice(0, 200)) sections.push({ note, text: [parsed.title, section.heading ?? "", parsed.text.slice(section.start, section.end)].join("\n") });
  }
  if (deps.embedder === undefined || sections.length === 0) return undefined;
  const made = await deps.embedder.embed(sections.map((s) => s.text), deps.signal);
  if (!made.ok) {
    for (const { note } of sections) {
      note.seen = UNSURE;
      note.hash = UNSURE;
    }
    return made.reason;
  }
  const byNote = new Map<KeptNote, Int8Array[]>();
  sections.forEach(({ note }, i) => {
    const vector = made.vectors[i] ?? new Float32Array(0);
    byNote.set(note, [...(byNote.get(note) ?? []), quantise(vector, new Int8Array(vector.length))]);
  });
  for (const [note, vectors] of byNote) note.vectors = Int8Array.from(vectors.flatMap((v) => [...v]));
  return undefined;
}
