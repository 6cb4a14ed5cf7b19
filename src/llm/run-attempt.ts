import type { ModelCall, ModelDelta } from "../contract/model-call.ts";
import type { Clock } from "./clock.ts";
import { type Collected, replyCollector } from "./collect-reply.ts";
import { openStream, type StreamPart } from "./open-stream.ts";
import type { Provider } from "./provider.ts";

export type AttemptEnd = { how: "done" } | { how: "aborted" } | { how: "timeout" } | { how: "cut" } | { how: "error"; error: unknown };
export type Attempt = { collected: Collected; end: AttemptEnd };

/** One request to its end. The idle timer runs from the start, so it also ends a server that never sends headers. A throw of `onDelta` passes through. */
export async function runAttempt(input: { provider: Provider; call: ModelCall; idleMs: number }, deps: { onDelta(delta: ModelDelta): void; clock: Clock }): Promise<Attempt> {
  const { provider, call, idleMs } = input;
  const { collected, take } = replyCollector(call, deps.onDelta);
  // Only these two names end a stream as an abort; any other reason looks like a broken connection.
  const controller = new AbortController();
  const stop = () => controller.abort(new DOMException("the call was cancelled", "AbortError"));
  let idle = false;
  const alarm = deps.clock.alarm(idleMs, () => {
    idle = true;
    controller.abort(new DOMException("the model went silent", "TimeoutError"));
  });
  call.signal.addEventListener("abort", stop, { once: true });
  if (call.signal.aborted) stop();
  const failed = (error: unknown): Attempt => ({ collected, end: call.signal.aborted ? { how: "aborted" } : idle ? { how: "timeout" } : { how: "error", error } });
  try {
    if (controller.signal.aborted) return failed(undefined);
    const stream = await openStream(provider, call, controller.signal);
    const parts = stream[Symbol.asyncIterator]();
    for (;;) {
      const next = await settle(parts.next());
      if ("error" in next) return failed(next.error);
      if (next.value.done === true) break;
      alarm.refresh();
      const part: StreamPart = next.value.value;
      if (part.type === "error") return failed(part.error);
      if (part.type === "abort") return failed(undefined);
      take(part);
    }
    return { collected, end: isCut(collected) ? { how: "cut" } : { how: "done" } };
  } finally {
    alarm.stop();
    call.signal.removeEventListener("abort", stop);
    // Leaving a stream does not close its connection; aborting does.
    controller.abort(new DOMException("the call is over", "AbortError"));
  }
}

/** A body that ends cleanly before the model said why it stopped comes without any error. */
function isCut(collected: Collected): boolean {
  return collected.finish === undefined || (collected.finish.raw ?? undefined) === undefined;
}

async function settle<T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
}
