import type { LoopState } from "../contract/event.ts";

const NEXT = {
  Idle: ["Planning"],
  Planning: ["Acting", "Failed"],
  Acting: ["Observing", "Failed"],
  Observing: ["Reflecting", "Failed"],
  Reflecting: ["Planning", "Complete", "Failed"],
  Complete: [],
  Failed: [],
} as const satisfies Record<LoopState, readonly LoopState[]>;

export type Next<S extends LoopState> = (typeof NEXT)[S][number];

/** Where the loop stands. Only a legal next state type-checks, and each position can be left once. */
export type At<S extends LoopState> = { readonly state: S; to<T extends Next<S>>(next: T): At<T> };

type OnTransition = (from: LoopState, to: LoopState) => void;

export function startMachine(onTransition: OnTransition): At<"Idle"> {
  return at("Idle", onTransition);
}

function at<S extends LoopState>(state: S, onTransition: OnTransition): At<S> {
  let left = false;
  return {
    state,
    to(next) {
      if (left) throw new Error(`the loop has already left ${state}`);
      left = true;
      onTransition(state, next);
      return at(next, onTransition);
    },
  };
}
