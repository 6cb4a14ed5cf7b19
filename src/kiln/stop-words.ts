import { hashWord } from "./tokens.ts";

/** Words that say nothing about what a note is about; neither indexed nor looked for. */
const STOP_WORDS =
  "a about after all also an and any are as at be because been before being but by can could did do does doing done for from had has have having he her here him his how i if in into is it its just me more most my no nor not of on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was we were what when where which while who whom why will with would you your s t don doesn isn let get gets got";

const HASHES: ReadonlySet<number> = new Set(STOP_WORDS.split(" ").map(hashWord));

export function isStopWord(hash: number): boolean {
  return HASHES.has(hash);
}
