import { StringDecoder } from "node:string_decoder";
import { type Key, readKeys } from "./keys.ts";

export type Terminal = {
  write(text: string): void;
  columns(): number;
  rows(): number;
  /** Gives the terminal back to the shell until the user brings us to the front again. */
  suspend(onBack: () => void): void;
  close(): void;
};

const [RAW_ON, RAW_OFF] = ["\u001b[?2004h", "\u001b[?2026l\u001b[?2004l\u001b[0m\u001b[?25h"];

const NOT_STOPPED_MS = 100;

/** Raw mode with bracketed paste. Given back on every way out: the end, a signal, a crash. */
export function openTerminal(on: { key(key: Key): void; resize(): void; hangUp(): void }): Terminal {
  const { stdin, stdout } = process;
  const decoder = new StringDecoder("utf8");
  const keys = readKeys(on.key);
  let active = false;
  const onData = (chunk: Buffer): void => keys.feed(decoder.write(chunk));

  const enter = (): void => {
    active = true;
    stdin.setRawMode(true);
    stdin.resume();
    stdout.write(RAW_ON);
  };
  const leave = (): void => {
    if (!active) return;
    active = false;
    stdout.write(RAW_OFF);
    try {
      stdin.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
  };
  const onCrash = (): void => {
    leave();
    stdout.write("\r\n");
  };
  process.once("exit", leave);
  process.once("uncaughtExceptionMonitor", onCrash);
  stdin.on("data", onData);
  stdin.once("end", on.hangUp);
  stdin.once("error", on.hangUp);
  stdout.on("resize", on.resize);
  enter();

  return {
    write: (text) => void stdout.write(text),
    // A terminal that was never told its size says 0.
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
    suspend(onBack) {
      leave();
      const back = (): void => {
        if (active) return;
        enter();
        onBack();
      };
      process.once("SIGCONT", back);
      process.kill(process.pid, "SIGTSTP");
      // Where no shell could bring us back nobody is stopped: then time goes on.
      setTimeout(back, NOT_STOPPED_MS);
    },
    close() {
      leave();
      keys.close();
      process.removeListener("exit", leave);
      process.removeListener("uncaughtExceptionMonitor", onCrash);
      stdin.removeListener("data", onData);
      stdin.removeListener("end", on.hangUp);
      stdin.removeListener("error", on.hangUp);
      stdout.removeListener("resize", on.resize);
      stdin.pause();
    },
  };
}
