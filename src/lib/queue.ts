/** First in, first out, with a limit for all and one per group. A job that waits for its group does not hold up the others behind it. */
export type Queue = {
  /** Runs `job` when it is its turn. `onWait` is called with the place in the line when it cannot start at once. */
  run<T>(group: string, job: () => Promise<T>, onWait?: (ahead: number) => void): Promise<T>;
  waiting(): number;
  running(): number;
};

export type QueueLimits = { maxConcurrent: number; perGroup?: Readonly<Record<string, number>> };

type Waiting = { group: string; start(): void };

export function openQueue(limits: QueueLimits): Queue {
  const line: Waiting[] = [];
  const running = new Map<string, number>();
  let total = 0;

  const fits = (group: string): boolean =>
    total < limits.maxConcurrent && (running.get(group) ?? 0) < (limits.perGroup?.[group] ?? Number.POSITIVE_INFINITY);

  const take = (group: string): void => {
    total += 1;
    running.set(group, (running.get(group) ?? 0) + 1);
  };

  const release = (group: string): void => {
    total -= 1;
    running.set(group, (running.get(group) ?? 1) - 1);
    for (let i = 0; i < line.length; ) {
      const next = line[i];
      if (next === undefined || !fits(next.group)) {
        i += 1;
        continue;
      }
      line.splice(i, 1);
      take(next.group);
      next.start();
    }
  };

  return {
    async run(group, job, onWait) {
      if (fits(group) && !line.some((w) => w.group === group)) take(group);
      else {
        onWait?.(line.length + 1);
        await new Promise<void>((start) => line.push({ group, start }));
      }
      try {
        return await job();
      } finally {
        release(group);
      }
    },
    waiting: () => line.length,
    running: () => total,
  };
}
