export const REDACTED = "[redacted]";

export type Redactor = {
  text(text: string): string;
  /** The same for everything inside a JSON value, its keys included. */
  value<T>(value: T): T;
  /** `at`, or less when a secret with blanks in it stands across it or may begin before it. */
  cutBefore(text: string, at: number): number;
};

const SECRET_NAME = /(?:^|_|[a-z])(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)/i;
/** Names that say where a secret is, not what it is. */
const PLACE_NAME = /_(?:FILE|PATH|DIR|SOCK|URL|HOST|PORT|ID|NAME|TTL|LIMIT|TYPE)$/i;
const SHORTEST = 8;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g, REDACTED],
  [/\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,})/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bxox[abeprs]-[A-Za-z0-9-]{10,}/g, REDACTED],
  [/\bAIza[A-Za-z0-9_-]{35}/g, REDACTED],
  [/\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}/g, REDACTED],
  [/\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g, REDACTED],
  [/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{16,}/gi, `$1$2${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[A-Za-z0-9_.~-]{16,256}@/gi, `$1${REDACTED}@`],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]{0,256}:)[^\s/@"'<>]{1,256}@/gi, `$1${REDACTED}@`],
];

const SECRET_FIELD = /^(?:x-api-key|api[-_]?key|authorization|proxy-authorization|password|passwd|client[-_]secret|access[-_]token|refresh[-_]token)$/i;

/** Secrets of this environment and texts that look like one become `[redacted]`. Everything that is written to a record goes through here. */
export function createRedactor(env: Record<string, string | undefined>): Redactor {
  const values = secretsOf(env);
  const text = (input: string): string => {
    let output = input;
    for (const value of values) if (output.includes(value)) output = output.replaceAll(value, REDACTED);
    if (!maybeSecret(output)) return output;
    for (const [pattern, replacement] of PATTERNS) output = output.replace(pattern, replacement);
    return output;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        text(key),
        typeof inner === "string" && inner.length >= SHORTEST && SECRET_FIELD.test(key) ? REDACTED : walk(inner),
      ]),
    );
  };
  const blanks = values.filter((value) => /\s/.test(value));
  return { text, value: <T>(value: T): T => walk(value) as T, cutBefore: (input, at) => cutBefore(input, at, blanks) };
}

export type StreamRedactor = {
  /** What of the stream so far can be written: the last word waits, because a secret may go on in the next piece. */
  push(piece: string): string;
  end(): string;
};

const LONGEST_WAIT = 16_384;

export function createStreamRedactor(redactor: Redactor): StreamRedactor {
  let waiting = "";
  return {
    push(piece) {
      waiting += piece;
      const at = redactor.cutBefore(waiting, safeEnd(waiting));
      const ready = waiting.slice(0, at);
      waiting = waiting.slice(at);
      return ready === "" ? "" : redactor.text(ready);
    },
    end() {
      const rest = waiting;
      waiting = "";
      return redactor.text(rest);
    },
  };
}

/** Where the last word starts; before a key block that has not ended by then. */
function safeEnd(text: string): number {
  if (text.length > LONGEST_WAIT) return text.length;
  const word = lastWord(text);
  const block = text.lastIndexOf("-----BEGIN ");
  if (block < 0) return word;
  const end = text.search(/-----END [A-Z0-9 ]*-----(?![\s\S]*-----END )/);
  return end > block && text.indexOf("-----", end + 5) + 5 <= word ? word : Math.min(word, block);
}

/** With `Bearer` or `Basic` when that is the word before it. By hand: every piece of every stream comes through here. */
function lastWord(text: string): number {
  let at = text.length;
  while (at > 0 && !isBlank(text.charCodeAt(at - 1))) at--;
  let before = at;
  while (before > 0 && isBlank(text.charCodeAt(before - 1))) before--;
  const scheme = before === at ? null : /\b(?:Bearer|Basic)$/i.exec(text.slice(Math.max(0, before - 7), before));
  return scheme === null ? at : before - scheme[0].length;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0xa0 && /\s/.test(String.fromCharCode(code)));
}

function cutBefore(text: string, at: number, values: readonly string[]): number {
  let cut = at;
  for (const value of values) {
    const whole = text.lastIndexOf(value);
    if (whole >= 0 && whole < cut && whole + value.length > cut) cut = whole;
    for (let length = Math.min(value.length - 1, text.length); length > text.length - cut; length--) {
      if (text.endsWith(value.slice(0, length))) cut = text.length - length;
    }
  }
  return cut;
}

/** Longest first, so that a secret that contains another goes as a whole. */
function secretsOf(env: Record<string, string | undefined>): string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    const secret = value?.trim() ?? "";
    if (secret.length < SHORTEST || !SECRET_NAME.test(name) || PLACE_NAME.test(name)) continue;
    found.add(secret);
    found.add(encodeURIComponent(secret));
    found.add(JSON.stringify(secret).slice(1, -1));
    found.add(Buffer.from(secret).toString("base64"));
  }
  return [...found].sort((a, b) => b.length - a.length);
}

/** Most texts hold nothing of the kind: one cheap look saves all patterns. */
function maybeSecret(text: string): boolean {
  return text.length >= SHORTEST && /-----BEGIN|sk[-_]|rk_|gh[pousr]_|github_pat_|glpat-|npm_|A[KS]IA|xox|AIza|eyJ|[Bb][Ee][Aa][Rr][Ee][Rr]|[Bb][Aa][Ss][Ii][Cc]|:\/\//.test(text);
}
