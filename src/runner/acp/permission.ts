import { askPermission, type PersonDeps, titleOf } from "../ask-person.ts";
import type { GatePolicy } from "../gate.ts";
import { type Message, records, text } from "../message.ts";
import { judge } from "./gate.ts";
import { labelOf, type ToolCall } from "./tool-calls.ts";

/** `wish`: what a person wants instead. */
export type Refusal = { action: string; reason: string; wish?: string };

/** `response` is what the agent hears; it has no place for a reason. */
export type PermissionDecision =
  | { kind: "allowed"; response: Message }
  | { kind: "denied"; response: Message; refusal: Refusal }
  | { kind: "suspended"; inboxId: string; response: Message }
  | { kind: "withdrawn"; response: Message };

/** Answers a permission request: by the gates where they can, else by a person. Options are chosen by their kind; ids differ from agent to agent. */
export async function answerPermission(call: ToolCall, options: unknown, deps: PersonDeps & { policy: GatePolicy }, signal: AbortSignal): Promise<PermissionDecision> {
  const verdict = judge(call, deps.policy, deps.allowedAll);
  const action = actionOf(call);
  // Never "always": what an agent remembers of it, and for how long, is not ours to see. Allow All is kept on this side.
  const allowed: PermissionDecision = { kind: "allowed", response: choose(options, ["allow_once", "allow_always"]) };
  const denied = (why: Omit<Refusal, "action">): PermissionDecision => ({ kind: "denied", response: choose(options, ["reject_once", "reject_always"]), refusal: { action, ...why } });
  if (verdict.kind === "allow") return allowed;
  if (verdict.kind === "deny") return denied({ reason: verdict.reason });
  const permitted = await askPermission({ tool: labelOf(call), input: call.input, title: action, reason: verdict.reason, reversible: verdict.reversible }, deps, signal);
  switch (permitted.kind) {
    case "allowed": {
      if (JSON.stringify(call.input) === JSON.stringify(permitted.input)) return allowed;
      // The protocol cannot change a call; the agent must make another one.
      const wish = `use this instead: ${JSON.stringify(permitted.input)}`;
      return denied({ reason: wish, wish });
    }
    case "denied":
      return denied({ reason: permitted.reason, ...(permitted.wish === undefined ? {} : { wish: permitted.wish }) });
    default:
      return { ...permitted, response: CANCELLED };
  }
}

/** How a call is shown, and recorded when it is refused. */
export function actionOf(call: ToolCall): string {
  const about = Object.keys(call.input).length === 0 ? call.title : titleOf(call.input);
  return `${labelOf(call)}: ${about}`;
}

const CANCELLED: Message = { outcome: { outcome: "cancelled" } };

function choose(options: unknown, kinds: readonly string[]): Message {
  const option = kinds.map((kind) => records(options).find((one) => one.kind === kind)).find((one) => one !== undefined);
  return option === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId: text(option.optionId) } };
}
