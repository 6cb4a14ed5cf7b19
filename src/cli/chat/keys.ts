/** What a person did: a named key, typed text, or a paste as one piece. */
export type Key = { type: "key"; name: KeyName; alt: boolean } | { type: "text"; text: string } | { type: "paste"; text: string };
export type KeyName =
  | "enter" | "newline" | "tab" | "shift-tab" | "escape" | "backspace" | "delete" | "up" | "down" | "left" | "right" | "home" | "end" | "page-up" | "page-down"
  | "word-left" | "word-right" | "word-back" | `ctrl-${string}`;

export type KeyReader = { feed(chunk: string): void; close(): void };

const [PASTE, PASTED] = ["\u001b[200~", "\u001b[201~"];
/** A lone Esc and the start of a sequence look alike; a terminal sends a sequence in one go. */
const ESCAPE_MS = 40;

/** Bytes of a terminal in raw mode, as keys. Sequences that are not known are dropped, never typed. */
export function readKeys(onKey: (key: Key) => void): KeyReader {
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;

  const flush = (final: boolean): void => {
    while (waiting !== "") {
      const taken = take(waiting, final);
      if (taken === undefined) return;
      waiting = waiting.slice(taken.length);
      if (taken.key !== undefined) onKey(taken.key);
    }
  };
  return {
    feed(chunk) {
      clearTimeout(timer);
      waiting += chunk;
      flush(false);
      if (waiting !== "" && !waiting.startsWith(PASTE)) timer = setTimeout(() => flush(true), ESCAPE_MS);
    },
    close: () => clearTimeout(timer),
  };
}

type Taken = { length: number; key?: Key };

/** The first key of `text`; undefined when more has to come. */
function take(text: string, final: boolean): Taken | undefined {
  if (text.startsWith(PASTE)) {
    const end = text.indexOf(PASTED);
    return end < 0 ? undefined : { length: end + PASTED.length, key: { type: "paste", text: text.slice(PASTE.length, end).replace(/\r\n?/g, "\n") } };
  }
  if (text.startsWith("\u001b")) return escape(text, final);
  const code = text.charCodeAt(0);
  if (code < 0x20 || code === 0x7f) return { length: 1, key: named(control(code), false) };
  // oxlint-disable-next-line no-control-regex
  const [plain = ""] = /^[^\u0000-\u001f\u007f]+/.exec(text) ?? [];
  return { length: plain.length, key: { type: "text", text: plain } };
}

function escape(text: string, final: boolean): Taken | undefined {
  if (text.length === 1) return final ? { length: 1, key: named("escape", false) } : undefined;
  // oxlint-disable-next-line no-control-regex
  const sequence = /^\u001b(?:\[([0-9;?<>=]*)([@-~])|O([A-Za-z]))/.exec(text);
  if (sequence !== null) {
    const name = sequenceName(sequence[1] ?? "", sequence[2] ?? sequence[3] ?? "");
    return { length: sequence[0].length, ...(name === undefined ? {} : { key: named(name, false) }) };
  }
  if (text[1] === "[" || text[1] === "O") return final ? { length: text.length } : undefined;
  if (text[1] === "\u001b") return { length: 1, key: named("escape", false) };
  const code = text.charCodeAt(1);
  if (code === 0x7f || code === 0x08) return { length: 2, key: named("word-back", false) };
  if (code < 0x20) return { length: 2, key: named(control(code), true) };
  const word = { b: "word-left", f: "word-right" } as const;
  const name = word[text[1] as "b" | "f"];
  return { length: 2, ...(name === undefined ? {} : { key: named(name, false) }) };
}

const FINAL: Record<string, KeyName> = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift-tab" };
const TILDE: Record<string, KeyName> = { 1: "home", 3: "delete", 4: "end", 5: "page-up", 6: "page-down", 7: "home", 8: "end" };

function sequenceName(parameters: string, final: string): KeyName | undefined {
  const [number = "", modifier = ""] = parameters.split(";");
  if (final === "~") return TILDE[number];
  const name = FINAL[final];
  // With Ctrl or Alt an arrow goes by words.
  if (modifier !== "" && modifier !== "2" && (name === "left" || name === "right")) return name === "left" ? "word-left" : "word-right";
  return name;
}

function control(code: number): KeyName {
  if (code === 0x0d) return "enter";
  if (code === 0x0a) return "newline";
  if (code === 0x09) return "tab";
  if (code === 0x7f || code === 0x08) return "backspace";
  return `ctrl-${String.fromCharCode(code + 0x60)}`;
}

function named(name: KeyName, alt: boolean): Key {
  return { type: "key", name, alt };
}
