/** Unified diff of two texts, "" when they are the same. Plain text: whoever shows it makes it inert line by line. */
export function unifiedDiff(before: string, after: string, options: { from: string; to: string; context?: number }): string {
  const changes = diffLines(lines(before), lines(after));
  const hunks = group(changes, options.context ?? 3);
  if (hunks.length === 0) return "";
  return [`--- ${options.from}`, `+++ ${options.to}`, ...hunks.flatMap(print)].join("\n") + "\n";
}

/** `+3 −1 lines` of a unified diff. */
export function countLines(diff: string): string {
  const body = diff.split("\n").slice(2);
  return `+${body.filter((l) => l.startsWith("+")).length} −${body.filter((l) => l.startsWith("-")).length} lines`;
}

export type LineChange = { kind: " " | "-" | "+"; line: string };

/** Past this many differences a text counts as rewritten as a whole; finding the shortest way is quadratic in them. */
const MOST_DIFFERENCES = 1000;

/** Myers' shortest edit script over lines, after the common beginning and end are set aside. */
export function diffLines(a: readonly string[], b: readonly string[]): LineChange[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--;
    endB--;
  }
  const same = (from: number, to: number): LineChange[] => a.slice(from, to).map((line) => ({ kind: " ", line }));
  return [...same(0, start), ...middle(a.slice(start, endA), b.slice(start, endB)), ...same(endA, a.length)];
}

function middle(a: readonly string[], b: readonly string[]): LineChange[] {
  const trace = a.length === 0 || b.length === 0 ? undefined : shortestTrace(a, b);
  if (trace === undefined) return [...a.map((line): LineChange => ({ kind: "-", line })), ...b.map((line): LineChange => ({ kind: "+", line }))];
  const script: LineChange[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reached = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
    const previousX = d === 0 ? 0 : (reached.get(down ? k + 1 : k - 1) ?? 0);
    const previousY = d === 0 ? 0 : previousX - (down ? k + 1 : k - 1);
    while (x > previousX && y > previousY) {
      script.push({ kind: " ", line: a[--x] ?? "" });
      y--;
    }
    if (d > 0) script.push(down ? { kind: "+", line: b[--y] ?? "" } : { kind: "-", line: a[--x] ?? "" });
  }
  return script.toReversed();
}

/** For each number of differences, how far each diagonal reached before; undefined when the texts are too different. */
function shortestTrace(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const trace: Map<number, number>[] = [];
  const reached = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_DIFFERENCES); d++) {
    trace.push(new Map(reached));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
      let x = down ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reached.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return undefined;
}

/** `end` is the index behind its last line. */
type Hunk = { beforeLine: number; afterLine: number; changes: LineChange[]; end: number };

/** Every change with its context; where two touch they are one hunk. */
function group(changes: readonly LineChange[], context: number): Hunk[] {
  const hunks: Hunk[] = [];
  let [beforeLine, afterLine] = [1, 1];
  let shown = Number.NEGATIVE_INFINITY;
  let nextChange = 0;
  for (const [index, change] of changes.entries()) {
    while (nextChange < index || changes[nextChange]?.kind === " ") nextChange++;
    const near = (nextChange < changes.length && nextChange - index <= context) || index <= shown;
    if (change.kind !== " ") shown = index + context;
    if (near) {
      const open = hunks.at(-1);
      if (open?.end === index) {
        open.changes.push(change);
        open.end++;
      } else {
        hunks.push({ beforeLine, afterLine, changes: [change], end: index + 1 });
      }
    }
    if (change.kind !== "+") beforeLine++;
    if (change.kind !== "-") afterLine++;
  }
  return hunks;
}

function print(hunk: Hunk): string[] {
  const count = (kind: "-" | "+"): number => hunk.changes.filter((change) => change.kind === " " || change.kind === kind).length;
  const range = (line: number, length: number): string => (length === 1 ? `${line}` : `${length === 0 ? line - 1 : line},${length}`);
  const header = `@@ -${range(hunk.beforeLine, count("-"))} +${range(hunk.afterLine, count("+"))} @@`;
  return [header, ...hunk.changes.flatMap(({ kind, line }) => (line.endsWith("\n") ? [kind + line.slice(0, -1)] : [kind + line, "\\ No newline at end of file"]))];
}

/** Lines with their ends, so that a missing last newline is a difference. */
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
