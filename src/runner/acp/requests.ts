import { RequestError } from "@agentclientprotocol/sdk";
import type { Emit } from "../../contract/event.ts";
import { askPermission, type PersonDeps } from "../ask-person.ts";
import type { GatePolicy } from "../gate.ts";
import { type Message, record, text } from "../message.ts";
import { elicit } from "./elicitation.ts";
import { readForAgent, writeForAgent } from "./file-requests.ts";
import { judge } from "./gate.ts";
import { actionOf, answerPermission, type Refusal } from "./permission.ts";
import { learn, newCall, pathsOf, type ToolCall } from "./tool-calls.ts";

export type RequestDeps = {
  policy: GatePolicy;
  person: PersonDeps;
  workspace: string;
  span_id: string;
  emit: Emit;
  /** What is known of the call that a permission is asked for. */
  known(said: Message): ToolCall;
  denied(action: string, reason: string): void;
  allowed(): void;
  suspended(inboxId: string): void;
};

export type RequestHandler = {
  answer(method: string, params: Message, signal: AbortSignal): Promise<unknown>;
  /** How the permission for a call was answered; undefined when none was asked for. */
  decided(callId: string): "pending" | "allowed" | "refused" | undefined;
  /** What was refused since the last time; the protocol had no place for the reasons. */
  takeRefusals(): Refusal[];
};

/** Answers what an agent asks of us while it works. */
export function requestHandler(deps: RequestDeps): RequestHandler {
  const decisions = new Map<string, "pending" | "allowed" | "refused">();
  /** Files that a person has let the agent write, by how often. */
  const granted = new Map<string, number>();
  let refusals: Refusal[] = [];
  let files = 0;

  const refuse = (refusal: Refusal): void => {
    refusals.push(refusal);
    deps.denied(refusal.action, refusal.reason);
  };

  const permission = async (params: Message, signal: AbortSignal): Promise<Message> => {
    const call = deps.known(record(params.toolCall));
    if (call.id !== "") decisions.set(call.id, "pending");
    const decision = await answerPermission(call, params.options, { ...deps.person, policy: deps.policy }, signal);
    if (call.id !== "") decisions.set(call.id, decision.kind === "allowed" ? "allowed" : "refused");
    if (decision.kind === "suspended") deps.suspended(decision.inboxId);
    if (decision.kind === "denied") refuse(decision.refusal);
    if (decision.kind === "allowed") {
      deps.allowed();
      for (const path of pathsOf(call, deps.workspace)) granted.set(path, (granted.get(path) ?? 0) + 1);
    }
    return decision.response;
  };

  const elicitation = async (params: Message, signal: AbortSignal): Promise<Message> => {
    const elicited = await elicit(params, deps.person, signal);
    if (elicited.kind === "reply") return elicited.response;
    deps.suspended(elicited.inboxId);
    return { action: "cancel" };
  };

  const mayWrite = async (call: ToolCall, path: string, signal: AbortSignal): Promise<void> => {
    const verdict = judge(call, deps.policy, deps.person.allowedAll);
    if (verdict.kind === "deny") throw notAllowed(verdict.reason);
    const left = granted.get(path) ?? 0;
    if (left > 0) granted.set(path, left - 1);
    if (verdict.kind === "allow" || left > 0) return;
    const permitted = await askPermission({ tool: "edit", input: call.input, title: actionOf(call), reason: verdict.reason, reversible: verdict.reversible }, deps.person, signal);
    if (permitted.kind === "allowed") return deps.allowed();
    if (permitted.kind === "suspended") deps.suspended(permitted.inboxId);
    throw notAllowed(permitted.kind === "denied" ? permitted.reason : "nobody answered");
  };

  const notAllowed = (reason: string): RequestError => RequestError.invalidRequest(undefined, `not allowed: ${reason}`);

  /** A write of ours for the agent is on record like a tool call of its own. */
  const write = async (params: Message, signal: AbortSignal): Promise<Message> => {
    const call = newCall(`fs-${++files}`);
    learn(call, { name: "fs/write_text_file", kind: "edit", rawInput: { path: text(params.path) } });
    deps.emit({ type: "agent.tool_call", span_id: deps.span_id, call_id: call.id, tool: call.name, input: call.input });
    const done = (ok: boolean, output: string): void => deps.emit({ type: "agent.tool_result", span_id: deps.span_id, call_id: call.id, tool: call.name, ok, output, duration_ms: performance.now() - call.at });
    try {
      await mayWrite(call, pathsOf(call, deps.workspace)[0] ?? "", signal);
      writeForAgent(params, deps.workspace);
    } catch (error) {
      if (error instanceof RequestError) {
        refuse({ action: actionOf(call), reason: error.message });
        done(false, error.message);
      }
      throw error;
    }
    done(true, `wrote ${text(params.path)}`);
    return {};
  };

  return {
    async answer(method, params, signal) {
      switch (method) {
        case "session/request_permission":
          return permission(params, signal);
        case "elicitation/create":
          return elicitation(params, signal);
        case "fs/read_text_file":
          return readForAgent(params, deps.workspace);
        case "fs/write_text_file":
          return write(params, signal);
        default:
          throw RequestError.methodNotFound(method);
      }
    },
    decided: (callId) => decisions.get(callId),
    takeRefusals() {
      const taken = refusals;
      refusals = [];
      return taken;
    },
  };
}
