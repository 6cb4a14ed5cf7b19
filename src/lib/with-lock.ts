import { CruError } from "../contract/error.ts";
import { acquireLock, type Lock } from "./lock.ts";

/** Runs `job` alone. Waits for another holder, and throws `locked` with its pid when that one does not let go in time. */
export async function withLock<T>(path: string, what: string, job: () => Promise<T>, options: { waitMs?: number } = {}): Promise<T> {
  const lock = await waitForLock(path, what, performance.now() + (options.waitMs ?? 30_000));
  try {
    return await job();
  } finally {
    lock.release();
  }
}

async function waitForLock(path: string, what: string, deadline: number): Promise<Lock> {
  for (let pauseMs = 2; ; pauseMs = Math.min(50, pauseMs * 1.5)) {
    try {
      return await acquireLock(path, what);
    } catch (error) {
      if (!(error instanceof CruError && error.code === "locked") || performance.now() > deadline) throw error;
    }
    // Uneven, so that several who wait do not knock at the same moments for ever.
    const uneven = pauseMs * (0.5 + Math.random());
    await new Promise((resolve) => setTimeout(resolve, uneven));
  }
}
