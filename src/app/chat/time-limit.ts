/** Ends the work when it took too long; time in which a person is waited for does not count. */
export type TimeLimit = {
  signal: AbortSignal;
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** The time that counted, together with what was used before. */
  stop(): number;
};

export function startTimeLimit(limitMs: number, usedMs: number, now: () => number): TimeLimit {
  const controller = new AbortController();
  let used = usedMs;
  let waits = 0;
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    since = now();
    timer = setTimeout(() => controller.abort(new DOMException("the time limit was reached", "TimeoutError")), Math.max(0, Math.min(limitMs - used, 2 ** 31 - 1)));
    timer.unref();
  };
  const pause = (): void => {
    clearTimeout(timer);
    if (since !== undefined) used += now() - since;
    since = undefined;
  };
  run();
  return {
    signal: controller.signal,
    async waiting(wait) {
      if (waits++ === 0) pause();
      try {
        return await wait();
      } finally {
        if (--waits === 0) run();
      }
    },
    stop() {
      // Whoever still waits does not start the clock again.
      waits++;
      pause();
      return used;
    },
  };
}
