import { type FSWatcher, watch } from "node:fs";
import type { Answer, Question } from "../contract/question.ts";
import { currentOwner } from "../lib/owner.ts";
import { openFollowUp, type Talk, tellFollowUp } from "./follow-up.ts";
import { expireQuestion, type InboxDeps } from "./answer-question.ts";
import { readAnswer, readWait, writeWait } from "./question-file.ts";

const POLL_MS = 250;
const PERSIST_MS = 1000;
/** A process that was stopped or a machine that slept did not wait for anybody: no step of the clock counts for more. */
const LONGEST_STEP_MS = 2000;

export type WaitDeps = InboxDeps & {
  signal: AbortSignal;
  /** Ends early when `wake` is called; a parameter so that tests need not wait. */
  pause?: (ms: number) => Promise<void>;
  /** Answers what the person asks before deciding. Never throws; ends early when `signal` does. */
  explain?: (followUp: Talk, signal: AbortSignal) => Promise<string>;
};

/**
 * The answer, from whichever process it comes, or the end of the time. Undefined when `signal` ends the wait: the time left is kept
 * and the next owner goes on with it. The clock runs only here.
 */
export async function awaitAnswer(question: Question, deps: WaitDeps): Promise<Answer | undefined> {
  const folder = deps.paths.project.inbox;
  const owner = await currentOwner();
  let left = readWait(folder, question.id)?.time_left_ms ?? question.time_left_ms;
  let before = deps.clock.monotonicMs();
  let persisted = before;
  const bell = startBell(folder, question.id, deps.signal);
  const pause = deps.pause ?? bell.pause;
  const explaining = startExplaining(question, deps);
  writeWait(folder, question.id, { owner, time_left_ms: left });
  try {
    for (;;) {
      const answer = readAnswer(folder, question.id);
      if (answer !== undefined) return bound(answer, question);
      if (left !== null && left <= 0) return bound(expireQuestion(question, deps), question);
      if (deps.signal.aborted) return undefined;
      await pause(left === null ? POLL_MS : Math.max(1, Math.min(POLL_MS, left)));
      const now = deps.clock.monotonicMs();
      explaining.look();
      // Who waits for the agent's explanation is not late.
      if (left !== null && !explaining.busy()) left -= Math.min(LONGEST_STEP_MS, Math.max(0, now - before));
      before = now;
      if (now - persisted >= PERSIST_MS && left !== null) {
        persisted = now;
        writeWait(folder, question.id, { owner, time_left_ms: Math.max(0, left) });
      }
    }
  } finally {
    explaining.stop();
    bell.close();
    writeWait(folder, question.id, { owner: null, time_left_ms: left === null ? null : Math.max(0, left) });
  }
}

/** An answer holds only for the action that it was given for. */
function bound(answer: Answer, question: Question): Answer {
  if (answer.action_hash === question.action_hash && answer.id === question.id) return answer;
  return { ...answer, decision: "deny", set: {}, by: "policy", text: "the answer was given for another action" };
}

/** Answers follow-ups one after the other, beside the wait: a decision that comes meanwhile counts at once. */
function startExplaining(question: Question, deps: WaitDeps): { look(): void; busy(): boolean; stop(): void } {
  const folder = deps.paths.project.inbox;
  const over = new AbortController();
  let busy = false;
  return {
    look() {
      const followUp = busy || deps.explain === undefined ? undefined : openFollowUp(folder, question.id);
      if (followUp === undefined) return;
      busy = true;
      const signal = AbortSignal.any([deps.signal, over.signal]);
      void deps.explain?.(followUp, signal).then((text) => {
        busy = false;
        if (!signal.aborted) tellFollowUp({ id: question.id, n: followUp.n, text }, deps);
      });
    },
    busy: () => busy,
    stop: () => over.abort(),
  };
}

/** Wakes at a change in the folder, where the system tells us; polling covers the rest. */
function startBell(folder: string, id: string, signal: AbortSignal): { pause(ms: number): Promise<void>; close(): void } {
  let wake = (): void => {};
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name?.startsWith(`${id}.a`) === true) wake();
    });
    watcher.on("error", () => {});
  } catch {
    // Too many watches, or none here.
  }
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  return {
    pause: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => wake(), ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    close() {
      watcher?.close();
      signal.removeEventListener("abort", onAbort);
    },
  };
}
