import { fstatSync, statSync, writeSync } from "node:fs";

/**
 * Standard output and error without `process.stdout`, whose stream alone costs a tenth of a start.
 * Node writes to files, terminals and pipes synchronously anyway; where a pipe cannot take it all at once, the stream takes over.
 */
const FILES = { stdout: 1, stderr: 2 } as const;
const streaming = { stdout: false, stderr: false };
const gone = { stdout: false, stderr: false };

export function write(to: keyof typeof FILES, text: string): void {
  if (gone[to]) return;
  if (streaming[to]) return void process[to].write(text);
  let bytes: Uint8Array = Buffer.from(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(FILES[to], bytes));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPIPE") return readerGone(to);
    if (code !== "EAGAIN") throw error;
    streaming[to] = true;
    process[to].on("error", (failure: NodeJS.ErrnoException) => {
      if (failure.code === "EPIPE") readerGone(to);
    });
    process[to].write(bytes);
  }
}

/** `tty` is costly too, and loaded only for what can be a terminal at all. */
export function isTerminal(file: 0 | 1 | 2): boolean {
  try {
    const stat = fstatSync(file);
    return stat.isCharacterDevice() && stat.rdev !== statSync("/dev/null").rdev && process.getBuiltinModule("node:tty").isatty(file);
  } catch {
    return false;
  }
}

/** The reader of a pipe went away (`cru … | head`). A list is simply over; work ends as it would on a signal, so that nothing is left half done. */
function readerGone(to: keyof typeof FILES): void {
  if (gone[to]) return;
  gone[to] = true;
  if (process.listenerCount("SIGTERM") === 0) process.exit(0);
  process.emit("SIGTERM", "SIGTERM");
}
