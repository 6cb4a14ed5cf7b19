/** Collects bytes in bounded memory. Past `maxBytes` the middle is dropped (or, with `tail`, everything but the end), and the text says how much. */
export type BoundedText = { add(chunk: Uint8Array): void; text(): string; cutBytes(): number };

export function boundedText(maxBytes: number, keep: "ends" | "tail" = "ends"): BoundedText {
  const headMax = keep === "ends" ? Math.ceil(maxBytes / 2) : 0;
  const tailMax = Math.max(0, maxBytes - headMax);
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let total = 0;

  const add = (chunk: Uint8Array): void => {
    total += chunk.length;
    const room = Math.min(headMax - headBytes, chunk.length);
    if (room > 0) {
      head.push(chunk.subarray(0, room));
      headBytes += room;
    }
    if (room >= chunk.length) return;
    tail.push(chunk.subarray(room));
    tailBytes += chunk.length - room;
    // Compacting at twice the size costs one copy per kept byte and never holds on to more than that.
    if (tailBytes > 2 * tailMax || tail.length > 1024) compact();
  };

  const compact = (): void => {
    const all = Buffer.concat(tail);
    const kept = Buffer.from(all.subarray(Math.max(0, all.length - tailMax)));
    tail = [kept];
    tailBytes = kept.length;
  };

  const cutBytes = (): number => Math.max(0, total - maxBytes);

  const text = (): string => {
    compact();
    const first = Buffer.concat(head);
    const last = tail[0] ?? Buffer.alloc(0);
    if (cutBytes() === 0) return Buffer.concat([first, last]).toString("utf8");
    const start = withoutTornEnd(first).toString("utf8");
    const end = withoutTornStart(last).toString("utf8");
    return `${start}${start === "" || start.endsWith("\n") ? "" : "\n"}[… ${cutBytes()} bytes cut …]\n${end}`;
  };

  return { add, text, cutBytes };
}

/** A cut inside a character would show as U+FFFD although the program wrote valid text. */
function withoutTornEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function withoutTornStart(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < 3 && from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, bytes.length - from);
}
