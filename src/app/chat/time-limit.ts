/** Ends the work when it took too long; time in which a person is waited for does not count. */
export type TimeLimit = { signal: AbortSignal; waiting<T>(wait: () => Promise<T>): Promise<T>; stop(): void };

export function startTimeLimit(limitMs: number, usedMs: number, now: () => number): TimeLimit {
  const controller = new AbortController();
  let left = limitMs - usedMs;
  let waits = 0;
  let since = now();
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    since = now();
    timer = setTimeout(() => controller.abort(new DOMException("the time limit was reached", "TimeoutError")), Math.max(0, Math.min(left, 2 ** 31 - 1)));
    timer.unref();
  };
  const pause = (): void => {
    clearTimeout(timer);
    left -= now() - since;
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
    stop: () => clearTimeout(timer),
  };
}
