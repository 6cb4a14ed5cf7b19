import type { Authorize, Decision } from "../../agent/call-tool.ts";
import type { Permission } from "../../contract/permission.ts";
import type { Answer } from "../../contract/question.ts";
import type { Ask } from "../../contract/runner.ts";
import type { AnyTool, Preview } from "../../contract/tool.ts";
import { type Gate, gateOf } from "../../tools/gate-of.ts";

export type GateDeps = {
  ask: Ask;
  /** Permission and tool names that ask each time: the agent's own and those of the agents above it. */
  requiresApproval: readonly string[];
  /** Permissions that do not ask. */
  allow: readonly Permission[];
  sandboxed: boolean;
  explain(action: { tool: string; input: unknown }, text: string): Promise<string>;
  /** Hears of every gated call: undefined when it may run, else why not. */
  onDecision(action: string, denied: string | undefined): void;
};

/** Decides before each call whether a person has to be asked, asks, and gives back what may run. */
export function createAuthorize(deps: GateDeps): Authorize {
  return async ({ callId, tool, input }, context) => {
    const gate = gateOf(tool, input, { workspace: context.workspace, sandboxed: deps.sandboxed });
    if (!mustAsk(tool, gate, deps)) return { kind: "run", input };
    const preview = (await tool.preview?.(input as never, context)) ?? plainPreview(tool, input);
    const asked = await deps.ask({
      key: callId,
      kind: "approval",
      title: preview.title,
      body: [gate.reason, preview.body].filter((part) => part !== "").join("\n\n"),
      options: ["approve", "deny"],
      reversible: preview.reversible && gate.reversible,
      action: { tool: tool.name, input },
      check: (set) => faultOf(tool, input, set),
      explain: (text) => deps.explain({ tool: tool.name, input }, text),
    });
    if (asked.kind === "suspended") return { kind: "suspend", inboxId: asked.inboxId };
    const { answer } = asked;
    const decision = decide(tool, input, answer);
    deps.onDecision(preview.title, decision.kind === "deny" ? decision.reason : undefined);
    return decision;
  };
}

function decide(tool: AnyTool, input: unknown, answer: Answer): Decision {
  if (answer.decision === "approve") return Object.keys(answer.set).length === 0 ? { kind: "run", input } : withChanges(tool, input, answer.set);
  const silence = answer.status === "expired" ? "nobody answered in time" : "the user said no";
  return { kind: "deny", reason: answer.text === "" ? silence : answer.text };
}

function mustAsk(tool: AnyTool, gate: Gate, deps: GateDeps): boolean {
  const listed = deps.requiresApproval.includes(tool.name) || tool.needs.some((right) => deps.requiresApproval.includes(right));
  if (listed) return true;
  if (!gate.ask) return false;
  // Only reading from the network can be allowed in advance: protected paths and what cannot be undone always ask.
  const allowable = gate.reversible && tool.needs.includes("NetworkAccess");
  return !allowable || !tool.needs.every((right) => deps.allow.includes(right));
}

/** The person's parameters replace the model's, checked with the tool's own schema; the model is told. */
function withChanges(tool: AnyTool, input: unknown, set: Record<string, unknown>): Decision {
  const fault = faultOf(tool, input, set);
  if (fault !== undefined) return { kind: "deny", reason: `the changed parameters are not valid: ${fault}` };
  const changes = Object.entries(set).map(([key, after]) => `${key}: ${JSON.stringify((input as Record<string, unknown>)[key])} → ${JSON.stringify(after)}`);
  return { kind: "run", input: tool.input.parse(merged(input, set)), note: `[Changed by the user before it ran: ${changes.join("; ")}]` };
}

function faultOf(tool: AnyTool, input: unknown, set: Record<string, unknown>): string | undefined {
  const parsed = tool.input.safeParse(merged(input, set));
  const [first] = parsed.success ? [] : parsed.error.issues;
  return first === undefined ? undefined : `${first.path.join(".")}: ${first.message}`;
}

function merged(input: unknown, set: Record<string, unknown>): Record<string, unknown> {
  return { ...(input as object), ...set };
}

function plainPreview(tool: AnyTool, input: unknown): Preview {
  return { title: tool.name, body: JSON.stringify(input, null, 2), reversible: true };
}

