import { Worker } from "node:worker_threads";

export type Matcher = {
  match(files: readonly { path: string; text: string }[]): Promise<{ ok: true; hits: string[] } | { ok: false; reason: "timeout" | "aborted" }>;
  close(): Promise<void>;
};

const MOST_LINE = 20_000;
const SHOWN_LINE = 300;

/** Runs a foreign regular expression on a thread of its own: one that backtracks for ever is ended with the thread, after `timeMs` in all. */
export function openMatcher(expression: { source: string; flags: string }, options: { timeMs: number; mostHits: number; signal: AbortSignal }): Matcher {
  const worker = new Worker(CODE, { eval: true, env: {}, workerData: { ...expression, mostHits: options.mostHits, mostLine: MOST_LINE, shown: SHOWN_LINE } });
  const ended = endOf(worker, options);
  return {
    async match(files) {
      const answer = new Promise<{ ok: true; hits: string[] }>((resolve) => worker.once("message", (hits: string[]) => resolve({ ok: true, hits })));
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(files);
      return Promise.race([answer, ended.promise.then((reason) => ({ ok: false as const, reason }))]);
    },
    async close() {
      ended.clear();
      await worker.terminate();
    },
  };
}

function endOf(worker: Worker, options: { timeMs: number; signal: AbortSignal }): { promise: Promise<"timeout" | "aborted">; clear(): void } {
  let clear = (): void => {};
  const promise = new Promise<"timeout" | "aborted">((resolve) => {
    const timer = setTimeout(() => resolve("timeout"), options.timeMs);
    const onAbort = (): void => resolve("aborted");
    options.signal.addEventListener("abort", onAbort, { once: true });
    if (options.signal.aborted) onAbort();
    // A thread that ran out of memory counts as one that took too long.
    worker.once("error", () => resolve("timeout"));
    clear = () => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", onAbort);
    };
  });
  return { promise, clear };
}

/** Plain JavaScript: a thread that starts from text needs no file of its own in the bundle. */
const CODE = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
let found = 0;
parentPort.on("message", (files) => {
  const hits = [];
  for (const { path, text } of files) {
    let number = 0;
    for (const whole of text.split("\\n")) {
      number++;
      const line = whole.length > workerData.mostLine ? whole.slice(0, workerData.mostLine) : whole;
      const match = expression.exec(line);
      if (match === null) continue;
      const from = match.index > workerData.shown / 2 && line.length > workerData.shown ? match.index - 50 : 0;
      const shown = line.slice(from, from + workerData.shown).replace(/\\r$/, "");
      hits.push(path + ":" + number + ":" + (from > 0 ? "…" : "") + shown + (from + workerData.shown < whole.length ? "…" : ""));
      if (++found > workerData.mostHits) break;
    }
    if (found > workerData.mostHits) break;
  }
  parentPort.postMessage(hits);
});
`;
