/** Time and chance as a parameter, so that waiting can be tested without waiting. */
export type Clock = {
  now(): number;
  random(): number;
  /** Ends early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Rings once when `ms` have passed since the start or the last refresh. */
  alarm(ms: number, ring: () => void): { refresh(): void; stop(): void };
};

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((go) => {
      if (signal.aborted) return go();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        go();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end, { once: true });
    }),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return { refresh: () => void timer.refresh(), stop: () => clearTimeout(timer) };
  },
};
