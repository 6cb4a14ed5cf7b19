/** The part of an English word that its forms share: `retries`, `retrying` and `retried` meet in `retri`. Light: it prefers missing a form over merging two words. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return ending(inflection(plural(word)));
}

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (/(?:x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word;
}

function inflection(word: string): string {
  const base = /^(.*[aeiouy].*)(?:ed|ing)$/.exec(word)?.[1];
  if (base === undefined || base.length < 3) return word.endsWith("ly") && word.length > 5 ? word.slice(0, -2) : word;
  // `stopped` → `stop`, but `filled` → `fill`.
  return /([bdgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}

function ending(word: string): string {
  if (word.length > 3 && word.endsWith("e")) return word.slice(0, -1);
  return word.length > 2 && word.endsWith("y") ? `${word.slice(0, -1)}i` : word;
}
