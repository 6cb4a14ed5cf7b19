/** Wall time for what people read, monotonic time for every duration and deadline: a wall clock jumps. */
export type Clock = { now(): Date; monotonicMs(): number };

export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };
