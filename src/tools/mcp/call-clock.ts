/** The time of one call. It stands still while a person is asked. */
export type CallClock = {
  signal: AbortSignal;
  pause(): void;
  resume(): void;
  stop(): void;
};

export function callClock(limitMs: number): CallClock {
  const over = new AbortController();
  let left = limitMs;
  let since = performance.now();
  let paused = 0;
  let timer = setTimeout(() => over.abort(), left);
  let isStopped = false;
  return {
    signal: over.signal,
    pause() {
      if (paused++ > 0) return;
      clearTimeout(timer);
      left -= performance.now() - since;
    },
    resume() {
      if (--paused > 0 || isStopped) return;
      since = performance.now();
      timer = setTimeout(() => over.abort(), Math.max(0, left));
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
