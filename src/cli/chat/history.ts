/** What was said before, newest last; going past the end gives back what was being written. */
export type History = {
  /** What was said in earlier conversations. */
  seed(earlier: readonly string[]): void;
  add(text: string): void;
  back(draft: string): string | undefined;
  forward(): string | undefined;
};

export function createHistory(): History {
  const said: string[] = [];
  let at = 0;
  let kept = "";
  return {
    seed(earlier) {
      said.unshift(...earlier);
      at += earlier.length;
    },
    add(text) {
      if (said.at(-1) !== text) said.push(text);
      at = said.length;
    },
    back(draft) {
      if (at === said.length) kept = draft;
      if (at === 0) return undefined;
      at--;
      return said[at];
    },
    forward() {
      if (at >= said.length) return undefined;
      at++;
      return at === said.length ? kept : said[at];
    },
  };
}
