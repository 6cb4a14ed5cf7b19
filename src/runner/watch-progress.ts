export type ProgressWatch = {
  progress(): void;
  /** While a person is waited for, no clock runs. */
  paused<T>(wait: () => Promise<T>): Promise<T>;
  stop(): void;
};

/** Calls `onEnd` once: when nothing was achieved for `idleMs`, or the whole took `timeoutMs`. What counts as progress is the caller's to say; bytes do not. */
export function watchProgress(limits: { idleMs: number; timeoutMs: number }, onEnd: (why: "idle" | "time") => void): ProgressWatch {
  let pauses = 0;
  let workedMs = 0;
  let since = performance.now();
  let last = since;
  let timer: NodeJS.Timeout | undefined;

  const arm = (): void => {
    clearTimeout(timer);
    const now = performance.now();
    const left = Math.min(limits.idleMs - (now - last), limits.timeoutMs - workedMs - (now - since));
    timer = setTimeout(check, Math.min(Math.max(1, left), 2 ** 31 - 1));
  };

  const check = (): void => {
    const now = performance.now();
    if (workedMs + now - since >= limits.timeoutMs) onEnd("time");
    else if (now - last >= limits.idleMs) onEnd("idle");
    else arm();
  };

  arm();
  return {
    progress() {
      last = performance.now();
    },
    async paused(wait) {
      if (pauses++ === 0) {
        clearTimeout(timer);
        workedMs += performance.now() - since;
      }
      try {
        return await wait();
      } finally {
        if (--pauses === 0) {
          since = performance.now();
          last = since;
          arm();
        }
      }
    },
    stop() {
      clearTimeout(timer);
      pauses = Number.POSITIVE_INFINITY;
    },
  };
}
