/** What came of one tool call or subagent: the material of the Reflect phase. */
export type Observation = {
  callId: string;
  tool: string;
  input: unknown;
  output: string;
  ok: boolean;
  durationMs: number;
  /** True when the world may be different now. */
  changed: boolean;
};

/** Keeps the start and the end of a long text and says how much is missing. */
export function bound(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.floor(most * 0.6);
  const tail = most - head;
  return `${text.slice(0, head)}\n[… ${text.length - most} characters left out …]\n${text.slice(-tail)}`;
}

/** The same for what may hold secrets: cleaned before it is cut, because half a secret is no longer recognised. */
export function boundClean(text: string, most: number, redact: (text: string) => string): string {
  return text.length <= most ? text : bound(redact(text), most);
}
