/** Matches a path with `/` against `*`, `?`, `[a-z]`, `{a,b}` and `**`. Work is bounded by pattern × path, so that no pattern can hang it. */
export type Glob = (path: string) => boolean;

const MOST_ALTERNATIVES = 256;

/** Undefined when the pattern is too long or has too many alternatives. */
export function glob(pattern: string): Glob | undefined {
  if (pattern.length > 1000) return undefined;
  const alternatives = braces(pattern);
  if (alternatives === undefined) return undefined;
  const lists = alternatives.map((one) => one.replace(/^\.\//, "").split("/").filter((segment) => segment !== ""));
  return (path) => lists.some((segments) => matchSegments(segments, path.split("/")));
}

/** A pattern already split at `/` against a path split at `/`. */
export function matchSegments(pattern: readonly string[], path: readonly string[], options: { hidden: boolean } = { hidden: false }): boolean {
  // reachable[j]: the pattern so far can end before path segment j.
  let reachable = Array.from({ length: path.length + 1 }, (_, j) => j === 0);
  for (const segment of pattern) {
    const next = Array.from({ length: path.length + 1 }, () => false);
    if (segment === "**") {
      for (let j = 0, reached = false; j <= path.length; j++) {
        // Into a hidden folder only when it is named.
        if (j > 0 && !options.hidden && path[j - 1]?.startsWith(".") === true && j < path.length) reached = false;
        reached = reached || reachable[j] === true;
        next[j] = reached;
      }
    } else {
      for (const [j, name] of path.entries()) if (reachable[j] === true && matchName(segment, name, options.hidden)) next[j + 1] = true;
    }
    reachable = next;
  }
  return reachable[path.length] === true;
}

/** One name without `/`: the usual walk that remembers the last star. */
function matchName(pattern: string, name: string, hidden: boolean): boolean {
  // A hidden name must be meant.
  if (!hidden && name.startsWith(".") && !pattern.startsWith(".")) return false;
  const units = unitsOf(pattern);
  let [p, n, star, mark] = [0, 0, -1, 0];
  while (n < name.length) {
    const unit = units[p];
    if (unit === "*") {
      star = p++;
      mark = n;
    } else if (unit?.(name[n] ?? "") === true) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++mark;
    } else return false;
  }
  while (units[p] === "*") p++;
  return p === units.length;
}

type Unit = "*" | ((character: string) => boolean);

function unitsOf(pattern: string): Unit[] {
  const units: Unit[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i] ?? "";
    const set = character === "[" ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(i)) : null;
    if (character === "*") {
      if (units.at(-1) !== "*") units.push("*");
    } else if (character === "?") units.push(() => true);
    else if (set !== null) {
      units.push(inSet(set[2] ?? "", set[1] !== ""));
      i += (set[0]?.length ?? 1) - 1;
    } else {
      const literal = character === "\\" && i + 1 < pattern.length ? (pattern[++i] ?? "") : character;
      units.push((c) => c === literal);
    }
  }
  return units;
}

function inSet(body: string, negated: boolean): (character: string) => boolean {
  const ranges = [...body.matchAll(/(.)-(.)|(.)/gs)].map((m) => (m[3] === undefined ? [m[1] ?? "", m[2] ?? ""] : [m[3], m[3]]) as [string, string]);
  return (c) => ranges.some(([from, to]) => c >= from && c <= to) !== negated;
}

/** Every text that `{a,b}` stands for; nested ones too. */
function braces(pattern: string): string[] | undefined {
  let open = [pattern];
  for (let round = 0; round < 20; round++) {
    const next = open.flatMap((text) => {
      const found = /\{([^{}]*,[^{}]*)\}/.exec(text);
      if (found === null) return [text];
      return (found[1] ?? "").split(",").map((choice) => text.slice(0, found.index) + choice + text.slice(found.index + found[0].length));
    });
    if (next.length > MOST_ALTERNATIVES) return undefined;
    if (next.length === open.length) return next;
    open = next;
  }
  return undefined;
}
