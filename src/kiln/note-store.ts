import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { lengthOf, type NoteIndex } from "./analyse-note.ts";

/** A note as it is kept between runs. `seen` is size and times of the file when it was read. */
export type KeptNote = NoteIndex & { path: string; seen: string; hash: string; title: string; tags: string[]; aliases: string[] };

/** `meaning` names what the vectors were made with; an index made with something else is as good as none. */
export type StorePlace = { path: string; meaning: string };

const MAGIC = "CRUKILN\u0001";
const HEAD = 16;
type Row = [path: string, seen: string, hash: string, title: string, tags: string[], aliases: string[], terms: number, words: number, vectors: number];

/**
 * The whole index is one file, read in one go and used where it lies: magic, checksum, length of the table | table as JSON |
 * terms | words | counts | vectors, each of all notes. It is only a cache: what cannot be read is made again.
 */
export function loadNotes(place: StorePlace): KeptNote[] {
  try {
    return parse(readFileSync(place.path), place.meaning);
  } catch {
    return [];
  }
}

/** False when the disk refuses; the notes in memory serve on. The last of two writers wins. */
export function saveNotes(place: StorePlace, notes: readonly KeptNote[]): boolean {
  const temporary = `${place.path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    mkdirSync(dirname(place.path), { recursive: true, mode: 0o700 });
    const file = openSync(temporary, "wx", 0o600);
    try {
      write(file, place.meaning, notes);
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

function parse(file: Buffer, meaning: string): KeptNote[] {
  if (file.length < HEAD || file.toString("latin1", 0, 8) !== MAGIC) return [];
  if (crc32(file.subarray(12)) !== file.readUInt32LE(8)) return [];
  const tableLength = file.readUInt32LE(12);
  const table = JSON.parse(file.toString("utf8", HEAD, HEAD + tableLength)) as { meaning: string; notes: Row[] };
  if (table.meaning !== meaning) return [];
  const total = { terms: 0, words: 0 };
  for (const row of table.notes) {
    total.terms += row[6];
    total.words += row[7];
  }
  let termsAt = file.byteOffset + padded(HEAD + tableLength);
  let wordsAt = termsAt + total.terms * 4;
  let countsAt = wordsAt + total.words * 4;
  let vectorsAt = countsAt + total.terms;
  return table.notes.map(([path, seen, hash, title, tags, aliases, terms, words, vectors]) => {
    const counts = new Uint8Array(file.buffer, countsAt, terms);
    const note = {
      path, seen, hash, title, tags, aliases, counts, length: lengthOf(counts),
      terms: new Int32Array(file.buffer, termsAt, terms),
      words: new Int32Array(file.buffer, wordsAt, words),
      vectors: new Int8Array(file.buffer, vectorsAt, vectors),
    };
    termsAt += terms * 4;
    wordsAt += words * 4;
    countsAt += terms;
    vectorsAt += vectors;
    return note;
  });
}

function write(file: number, meaning: string, notes: readonly KeptNote[]): void {
  const rows = notes.map((n): Row => [n.path, n.seen, n.hash, n.title, n.tags, n.aliases, n.terms.length, n.words.length, n.vectors.length]);
  const json = Buffer.from(JSON.stringify({ meaning, notes: rows }));
  const table = Buffer.alloc(padded(HEAD + json.length) - HEAD);
  json.copy(table);
  const head = Buffer.alloc(HEAD);
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(json.length, 12);
  const out = chunked(file, crc32(head.subarray(12)));
  writeSync(file, head);
  out.add(table);
  for (const note of notes) out.add(note.terms);
  for (const note of notes) out.add(note.words);
  for (const note of notes) out.add(note.counts);
  for (const note of notes) out.add(note.vectors);
  head.writeUInt32LE(out.end(), 8);
  writeSync(file, head, 0, HEAD, 0);
}

const CHUNK = 1 << 20;

/** Many small arrays into few writes, with the checksum of all. */
function chunked(file: number, first: number): { add(array: Int32Array | Int8Array | Uint8Array): void; end(): number } {
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
  return (length + 3) & ~3;
}
