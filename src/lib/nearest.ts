/** The word of a list that somebody most likely meant, undefined when none is near. Case, dashes and word order (`WriteDatabase`) count little. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const wanted = parts(word);
  let best: { word: string; distance: number } | undefined;
  for (const candidate of words) {
    const distance = Math.min(editDistance(wanted.joined, parts(candidate).joined), editDistance(wanted.sorted, parts(candidate).sorted));
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  const allowed = Math.max(1, Math.floor(word.length / 3));
  return best !== undefined && best.distance <= allowed ? best.word : undefined;
}

export function didYouMean(word: string, words: readonly string[]): string {
  const near = nearest(word, words);
  return near === undefined ? `one of: ${words.join(", ")}` : `did you mean '${near}'?`;
}

/** For a list that is not all there is: `rest` names what is taken besides. */
export function didYouMeanOr(word: string, words: readonly string[], rest: string): string {
  const near = nearest(word, words);
  return near === undefined ? `one of: ${words.join(", ")}, or ${rest}` : `did you mean '${near}'? ${rest[0]?.toUpperCase() ?? ""}${rest.slice(1)} is fine too`;
}

function parts(word: string): { joined: string; sorted: string } {
  const pieces = word.slice(0, 64).replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/).filter((p) => p !== "");
  return { joined: pieces.join(""), sorted: [...pieces].sort().join("") };
}

/** Insertions, deletions, replacements and swapped neighbours each count one. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const steps = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps.push((before[j - 2] ?? 0) + 1);
      next.push(Math.min(...steps));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
