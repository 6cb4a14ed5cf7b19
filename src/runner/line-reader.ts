export type LineReader = { push(chunk: Buffer): void; end(): void };

export type LineSink = {
  line(text: string): void;
  /** A line that is too long to be kept: its beginning, and how many bytes were left out after it. */
  cut(head: string, cutBytes: number): void;
};

const NEWLINE = 0x0a;
const LONGEST_LINE = 16 << 20;
const KEPT_OF_LONG = 64 << 10;

/** Splits bytes into lines in bounded memory. Bytes that are no UTF-8 become U+FFFD; the last line needs no newline. */
export function lineReader(sink: LineSink, longest = LONGEST_LINE): LineReader {
  let parts: Buffer[] = [];
  let bytes = 0;
  let skipped = 0;

  const add = (part: Buffer): void => {
    if (skipped > 0) {
      skipped += part.length;
      return;
    }
    parts.push(part);
    bytes += part.length;
    if (bytes <= longest) return;
    const head = beginning(parts, Math.min(KEPT_OF_LONG, longest));
    skipped = bytes - head.length;
    parts = [head];
    bytes = head.length;
  };

  const joined = (): Buffer => (parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts));

  const flush = (): void => {
    const text = joined().toString("utf8");
    if (skipped > 0) sink.cut(text, skipped);
    else if (text.trim() !== "") sink.line(text);
    parts = [];
    bytes = 0;
    skipped = 0;
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        flush();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end: flush,
  };
}

/** A copy, so that the rest can go. */
function beginning(parts: readonly Buffer[], most: number): Buffer {
  const head = Buffer.allocUnsafeSlow(most);
  let filled = 0;
  for (const part of parts) {
    filled += part.copy(head, filled);
    if (filled === most) break;
  }
  return head.subarray(0, filled);
}
