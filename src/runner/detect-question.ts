import type { QuestionCategory } from "../contract/question.ts";

export type DetectedQuestion = { category: QuestionCategory; question: string; options: string[] };

const OPTION = /^\s*(?:[-*•]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(.{1,200})$/;
const CONFIRM = /^(?:.*\b)?(?:shall|should|may|can|could|would you like me to|do you want me to|want me to|is it (?:ok|okay|fine)|are you (?:ok|okay|sure)|ok(?:ay)? to|proceed|continue)\b/i;

/**
 * Whether the end of an agent's message asks the person something: by its last sentence, or the one before a closing list of options.
 * Only a guess from words; the protocol's own questions never come through here.
 */
export function detectQuestion(text: string): DetectedQuestion | undefined {
  const lines = withoutFences(text).split("\n").map((line) => line.trimEnd());
  while (lines.at(-1)?.trim() === "") lines.pop();
  const options: string[] = [];
  while (OPTION.test(lines.at(-1) ?? "")) {
    options.unshift(OPTION.exec(lines.pop() ?? "")?.[1]?.trim() ?? "");
    while (lines.at(-1)?.trim() === "") lines.pop();
  }
  const last = plain(lines.at(-1) ?? "");
  const sentence = /[^.!?]*\?(?=\s*(?:\([^)]*\))?\s*$)/.exec(last)?.[0]?.trim();
  if (sentence === undefined || sentence.length < 4) return undefined;
  const suggested = options.length >= 2 ? options.map(plain) : inline(last, sentence);
  if (suggested.length >= 2) return { category: isYesNo(suggested) ? "confirmation" : "choice", question: sentence, options: suggested };
  return CONFIRM.test(sentence) ? { category: "confirmation", question: sentence, options: ["Yes", "No"] } : { category: "open", question: sentence, options: [] };
}

/** `(yes/no)` after the question, or `A or B?` at its end. */
function inline(line: string, sentence: string): string[] {
  const bracket = /\(([^()]{1,80})\)\s*$/.exec(line)?.[1] ?? /\[([^[\]]{1,80})\]\s*\?*$/.exec(line)?.[1];
  if (bracket?.includes("/") === true) return bracket.split("/").map((word) => word.trim()).filter((word) => word !== "");
  const either = /(?:^|[:,]\s|\b(?:use|choose|prefer|want|pick|with)\s+)([\w.+#-]{1,30}(?:, [\w.+#-]{1,30})*),? or ([\w.+#-]{1,30})\?$/i.exec(sentence);
  return either === null ? [] : [...(either[1] ?? "").split(", "), either[2] ?? ""];
}

function isYesNo(words: readonly string[]): boolean {
  return words.every((word) => /^(?:y|n|yes|no)$/i.test(word));
}

function withoutFences(text: string): string {
  return text.replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1[^\n]*$|(?![\s\S]))/gm, "");
}

function plain(text: string): string {
  return text.replace(/\*\*|__|`/g, "").trim();
}
