import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { type CruEvent, eventSchema } from "../contract/event.ts";

const CHUNK = 1 << 16;
const LOOK_MS = 150;
const NEWLINE = 0x0a;

/** The events of a file in order, and then those that are added, as long as `isLive` says that somebody still writes. Holds one line in memory, never the file. */
export async function* followEvents(path: string, isLive: () => Promise<boolean>): AsyncGenerator<CruEvent> {
  while (!existsSync(path)) {
    if (!(await isLive())) return;
    await pause();
  }
  const file = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(CHUNK);
  let rest: Buffer[] = [];
  let at = 0;
  try {
    for (;;) {
      // Asked before reading: what was written before the writer's end is read after it.
      const live = await isLive();
      for (let count = readSync(file, chunk, 0, CHUNK, at); count > 0; count = readSync(file, chunk, 0, CHUNK, at)) {
        at += count;
        let from = 0;
        for (let end = chunk.subarray(0, count).indexOf(NEWLINE); end >= 0; end = chunk.subarray(0, count).indexOf(NEWLINE, from)) {
          const event = parse(Buffer.concat([...rest, chunk.subarray(from, end)]));
          rest = [];
          from = end + 1;
          if (event !== undefined) yield event;
        }
        if (from < count) rest.push(Buffer.from(chunk.subarray(from, count)));
      }
      if (!live) return;
      await pause();
    }
  } finally {
    closeSync(file);
  }
}

/** A line that is no event of this version is left out. */
function parse(line: Buffer): CruEvent | undefined {
  try {
    return eventSchema.parse(JSON.parse(line.toString("utf8")));
  } catch {
    return undefined;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
