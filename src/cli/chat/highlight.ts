import { type Line, type Span, span } from "./line.ts";

/** Colours for code: comments, strings, numbers and the words that most languages share. No grammar, so nothing to keep up to date. */
export function highlightCode(code: readonly string[], language: string): Line[] {
  const name = language.toLowerCase().split(/[\s{:,]/)[0] ?? "";
  if (name === "diff" || name === "patch") return code.map(diffLine);
  if (name === "" || PLAIN.has(name)) return code.map((l) => [span(l)]);
  let inComment = false;
  return code.map((text) => {
    const { spans, open } = tokens(text, HASH.has(name), name === "sql" || name === "lua" || name === "haskell", inComment);
    inComment = open;
    return spans;
  });
}

/** One line of a unified diff. */
export function diffLine(text: string): Line {
  if (/^(?:\+\+\+|---) /.test(text)) return [span(text, "bold")];
  if (text.startsWith("@@")) return [span(text, "cyan")];
  if (text.startsWith("+")) return [span(text, "green")];
  if (text.startsWith("-")) return [span(text, "red")];
  return [span(text, "dim")];
}

/** Whether a text reads as a unified diff. */
export function looksLikeDiff(text: string): boolean {
  return /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text);
}

const PLAIN = new Set(["text", "txt", "plain", "markdown", "md", "output", "console"]);
const HASH = new Set(["sh", "bash", "shell", "zsh", "fish", "python", "py", "ruby", "rb", "yaml", "yml", "toml", "perl", "r", "make", "makefile", "dockerfile", "elixir", "ini"]);
const WORDS = new Set(
  `abstract and as async await bool boolean break case catch char class const continue def default defer del do done double elif else elseif end enum except export extends
  false False fi final finally float fn for foreach from func function go if impl implements import in instanceof int interface is lambda let local long loop match module mut new
  nil None not null or package pass private protected pub public raise readonly require return self Self short static string struct super switch then this throw trait true True try
  type typeof undefined union unless until use using var void when where while with yield
  SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE DROP ALTER JOIN LEFT RIGHT INNER ON GROUP BY ORDER LIMIT AS AND OR NOT NULL`.split(/\s+/),
);
const TOKEN = /(\/\*)|(\/\/.*$)|(#.*$)|(--.*$)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`?)|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)/g;

function tokens(text: string, hash: boolean, dashes: boolean, inComment: boolean): { spans: Span[]; open: boolean } {
  const spans: Span[] = [];
  let at = 0;
  if (inComment) {
    const end = text.indexOf("*/");
    if (end < 0) return { spans: [span(text, "dim")], open: true };
    spans.push(span(text.slice(0, end + 2), "dim"));
    at = end + 2;
  }
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [all, block, slashes, sharp, double, quoted, number, word] = match;
    if ((sharp !== undefined && !hash) || (double !== undefined && !dashes) || (slashes !== undefined && (hash || dashes))) {
      TOKEN.lastIndex = match.index + 1;
      continue;
    }
    const plain = word !== undefined && !WORDS.has(word);
    if (plain) continue;
    if (match.index > at) spans.push(span(text.slice(at, match.index)));
    at = match.index + all.length;
    if (block !== undefined) {
      const end = text.indexOf("*/", at);
      spans.push(span(text.slice(match.index, end < 0 ? undefined : end + 2), "dim"));
      if (end < 0) return { spans, open: true };
      at = end + 2;
      TOKEN.lastIndex = at;
    } else if (quoted !== undefined) spans.push(span(all, "green"));
    else if (number !== undefined) spans.push(span(all, "yellow"));
    else spans.push(word === undefined ? span(all, "dim") : span(all, "magenta"));
  }
  if (at < text.length) spans.push(span(text.slice(at)));
  return { spans, open: false };
}
