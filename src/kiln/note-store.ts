import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { IN_TITLE, lengthOf, type NoteIndex } from "./analyse-note.ts";
import type { Vocabulary } from "./word-table.ts";

/** A note as it is kept between runs. `seen` is size and times of the file when it was read. */
export type KeptNote = NoteIndex & { path: string; seen: number; hash: number; title: string; tags: string[]; aliases: string[] };

/** `meaning` names what the vectors were made with; an index made with something else is as good as none. */
export type StorePlace = { path: string; meaning: string };

/** Words of notes are numbers of the vocabulary. */
export type KeptNotes = { notes: readonly KeptNote[]; vocabulary: Vocabulary };

const MAGIC = "CRUKILN\u0002";
const HEAD = 16;
type Row = [path: string, title: string, tags: string[], aliases: string[]];
/** Numbers of a note: seen, hash, and how many words and bytes of vectors it has. */
const FIGURES = 4;

/**
 * The whole index is one file, read in one go and used where it lies: magic, checksum, length of the table | table as JSON | figures |
 * vocabulary | words | counts | vectors, each of all notes. It is only a cache: what cannot be read is made again.
 */
export function loadNotes(place: StorePlace): KeptNotes {
  try {
    return parse(readFileSync(place.path), place.meaning) ?? NOTHING;
  } catch {
    return NOTHING;
  }
}

const NOTHING: KeptNotes = { notes: [], vocabulary: { words: [], stems: [] } };

/** False when the disk refuses; the notes in memory serve on. The last of two writers wins. */
export function saveNotes(place: StorePlace, kept: KeptNotes): boolean {
  const temporary = `${place.path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    mkdirSync(dirname(place.path), { recursive: true, mode: 0o700 });
    const file = openSync(temporary, "wx", 0o600);
    try {
      write(file, place.meaning, kept);
      renameSync(temporary, place.path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
    return true;
  } catch {
    return false;
  }
}

function parse(file: Buffer, meaning: string): KeptNotes | undefined {
  if (file.length < HEAD || file.toString("latin1", 0, 8) !== MAGIC) return undefined;
  if (crc32(file.subarray(12)) !== file.readUInt32LE(8)) return undefined;
  const tableLength = file.readUInt32LE(12);
  const table = JSON.parse(file.toString("utf8", HEAD, HEAD + tableLength)) as { meaning: string; vocabulary: number; notes: Row[] };
  if (table.meaning !== meaning) return undefined;
  let end = file.byteOffset + padded(HEAD + tableLength);
  const next = (bytes: number): number => (end += bytes) - bytes;
  const figures = new Float64Array(file.buffer, next(table.notes.length * FIGURES * 8), table.notes.length * FIGURES);
  const integers = (count: number): Int32Array => new Int32Array(file.buffer, next(count * 4), count);
  const vocabulary = { words: integers(table.vocabulary), stems: integers(table.vocabulary) };
  let wordCount = 0;
  for (let at = 0; at < figures.length; at += FIGURES) wordCount += figures[at + 2] as number;
  const words = integers(wordCount);
  // What somebody else wrote must not lead outside.
  if (!words.every((word) => word >= 0 && (word & ~IN_TITLE) < table.vocabulary)) return undefined;
  let [wordsAt, countsAt, vectorsAt] = [words.byteOffset, next(wordCount), end];
  const notes = table.notes.map(([path, title, tags, aliases], i): KeptNote => {
    const [seen, hash, count, vectorBytes] = figures.subarray(i * FIGURES, (i + 1) * FIGURES) as unknown as [number, number, number, number];
    const counts = new Uint8Array(file.buffer, countsAt, count);
    const note = {
      path, seen, hash, title, tags, aliases, counts, length: lengthOf(counts),
      words: new Int32Array(file.buffer, wordsAt, count),
      vectors: new Int8Array(file.buffer, vectorsAt, vectorBytes),
    };
    wordsAt += count * 4;
    countsAt += count;
    vectorsAt += vectorBytes;
    return note;
  });
  return { notes, vocabulary };
}

function write(file: number, meaning: string, { notes, vocabulary }: KeptNotes): void {
  const rows = notes.map(({ path, title, tags, aliases }): Row => [path, title, tags, aliases]);
  const json = Buffer.from(JSON.stringify({ meaning, vocabulary: vocabulary.words.length, notes: rows }));
  const table = Buffer.alloc(padded(HEAD + json.length) - HEAD);
  json.copy(table);
  const head = Buffer.alloc(HEAD);
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(json.length, 12);
  const out = chunked(file, crc32(head.subarray(12)));
  writeSync(file, head);
  out.add(table);
  out.add(Float64Array.from(notes.flatMap((n) => [n.seen, n.hash, n.words.length, n.vectors.length])));
  out.add(Int32Array.from(vocabulary.words));
  out.add(Int32Array.from(vocabulary.stems));
  for (const note of notes) out.add(note.words);
  for (const note of notes) out.add(note.counts);
  for (const note of notes) out.add(note.vectors);
  head.writeUInt32LE(out.end(), 8);
  writeSync(file, head, 0, HEAD, 0);
}

const CHUNK = 1 << 20;

/** Many small arrays into few writes, with the checksum of all. */
function chunked(file: number, first: number): { add(array: NodeJS.TypedArray): void; end(): number } {
  const buffer = Buffer.allocUnsafe(CHUNK);
  let used = 0;
  let sum = first;
  const flush = (bytes: Buffer): void => {
    sum = crc32(bytes, sum);
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  };
  return {
    add(array) {
      const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
      if (used + bytes.length > CHUNK) {
        flush(buffer.subarray(0, used));
        used = 0;
      }
      if (bytes.length > CHUNK) flush(bytes);
      else used += bytes.copy(buffer, used);
    },
    end() {
      flush(buffer.subarray(0, used));
      return sum;
    },
  };
}

function padded(length: number): number {
  return (length + 7) & ~7;
}
