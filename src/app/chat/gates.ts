import type { Authorize, Decision } from "../../agent/call-tool.ts";
import { toJson } from "../../agent/loop-tools.ts";
import type { Permission } from "../../contract/permission.ts";
import type { Answer } from "../../contract/question.ts";
import type { Ask, CheckChanges } from "../../contract/runner.ts";
import type { AnyTool, Preview, ToolContext } from "../../contract/tool.ts";
import { type Gate, gateOf } from "../../tools/gate-of.ts";
import { changedPathFault } from "../changed-path.ts";

export type GateDeps = {
  ask: Ask;
  /** Permission and tool names that ask each time: the agent's own and those of the agents above it. */
  requiresApproval: readonly string[];
  /** Permissions that do not ask. */
  allow: readonly Permission[];
  sandboxed: boolean;
  ownGit: boolean;
  /** The approval that allowed this agent calls of this kind for the session, if one still holds. */
  standing(grant: string, callId: string): string | undefined;
  /** Hears of each call that such an approval let through. */
  reused(use: { id: string; grant: string; tool: string; callId: string; title: string }): void;
};

/** Decides before each call whether a person has to be asked, asks, and gives back what may run. */
export function createAuthorize(deps: GateDeps): Authorize {
  return async ({ callId, tool, input }, context) => {
    const gateFor = (wanted: unknown): Gate => gateOf(tool, wanted, { workspace: context.workspace, sandboxed: deps.sandboxed, ownGit: deps.ownGit });
    const gate = gateFor(input);
    const listed = deps.requiresApproval.find((name) => name === tool.name || (tool.needs as readonly string[]).includes(name));
    if (!mustAsk(tool, gate, listed, deps)) return { kind: "run", input };
    const preview = await previewOf(tool, input, context);
    const reversible = preview.reversible && gate.reversible;
    const grant = reversible ? grantOf(tool, input, gate, listed) : undefined;
    const standing = grant === undefined ? undefined : deps.standing(grant, callId);
    if (grant !== undefined && standing !== undefined) {
      deps.reused({ id: standing, grant, tool: tool.name, callId, title: preview.title });
      return { kind: "run", input };
    }
    const reason = [...(listed === undefined ? [] : [`this agent's definition asks for approval of ${listed}`]), ...(gate.reason === "" ? [] : [gate.reason])].join("; ");
    const impact = preview.impact ?? impactOf(tool);
    const describe = (one: Preview): string => body({ ...one, impact: one.impact ?? impact }, reason);
    // Who was not asked for the confirmation word cannot make of it something that needs one.
    const fault = (set: Record<string, unknown>): string | undefined =>
      faultOf(tool, input, set) ?? changedPathFault(tool.name, set, context.workspace) ?? (gate.reversible && !gateFor(tool.input.parse(merged(input, set))).reversible ? "changed like this it could not be undone; deny it and tell the agent what you want" : undefined);
    const asked = await deps.ask({
      key: callId,
      kind: "approval",
      title: preview.title,
      body: describe(preview),
      options: ["approve", "deny"],
      reversible,
      action: { tool: tool.name, input },
      reason,
      impact,
      inputSchema: { ...(tool.inputJson ?? toJson(tool.input)) },
      ...(grant === undefined ? {} : { grant }),
      check: fault,
      preview: async (set) => describe(await previewOf(tool, tool.input.parse(merged(input, set)), context)),
      refresh: async () => describe(await previewOf(tool, input, context)),
    });
    return asked.kind === "suspended" ? { kind: "suspend", inboxId: asked.inboxId } : decide(tool, input, asked.answer, fault);
  };
}

function mustAsk(tool: AnyTool, gate: Gate, listed: string | undefined, deps: GateDeps): boolean {
  if (listed !== undefined) return true;
  if (!gate.ask) return false;
  // Only reading from the network can be allowed in advance: protected paths and what cannot be undone always ask.
  const allowable = gate.reversible && tool.needs.includes("NetworkAccess");
  return !allowable || !tool.needs.every((right) => deps.allow.includes(right));
}

/** What "for this session" covers: this tool, for this reason; of the network, this host. */
function grantOf(tool: AnyTool, input: unknown, gate: Gate, listed: string | undefined): string {
  const reasons = [...(listed === undefined ? [] : ["requires approval"]), ...(gate.ask ? [hostOf(tool, input) ?? gate.reason] : [])];
  return `${tool.name}: ${reasons.join("; ")}`;
}

function hostOf(tool: AnyTool, input: unknown): string | undefined {
  const url = tool.name === "fetch_url" ? (input as { url?: unknown }).url : undefined;
  return typeof url === "string" && URL.canParse(url) ? `reads from ${new URL(url).host}` : undefined;
}

/** What a person reads below the title and whether it can be undone: why, what it does, and the thing itself. */
function body(preview: Preview, reason: string): string {
  const head = `Why you are asked: ${reason}\nImpact: ${preview.impact ?? ""}`;
  return [head, preview.body].filter((part) => part !== "").join("\n\n");
}

function impactOf(tool: AnyTool): string {
  if (tool.needs.includes("DatabaseWrite")) return "may change a database";
  if (tool.needs.includes("NetworkAccess")) return "talks to the network";
  if (tool.needs.includes("Shell")) return "runs a program";
  if (tool.needs.includes("FilesystemWrite")) return "changes files of the workspace";
  return tool.changes ? "may change something" : "changes nothing";
}

async function previewOf(tool: AnyTool, input: unknown, context: ToolContext): Promise<Preview> {
  return (await tool.preview?.(input as never, context)) ?? { title: tool.name, body: JSON.stringify(input, null, 2), reversible: true };
}

function decide(tool: AnyTool, input: unknown, answer: Answer, fault: CheckChanges): Decision {
  if (answer.decision === "approve") return Object.keys(answer.set).length === 0 ? { kind: "run", input } : withChanges(tool, input, answer.set, fault(answer.set));
  const silence = answer.status === "expired" ? "nobody answered in time" : "the user said no";
  return { kind: "deny", reason: answer.text === "" ? silence : answer.text };
}

/** The person's parameters replace the model's, checked with the tool's own schema; the model is told. */
function withChanges(tool: AnyTool, input: unknown, set: Record<string, unknown>, fault: string | undefined): Decision {
  if (fault !== undefined) return { kind: "deny", reason: `the changed parameters are not valid: ${fault}` };
  const before = input as Record<string, unknown>;
  const changes = Object.entries(set).flatMap(([key, after]) => {
    const [was, is] = [JSON.stringify(before[key]) ?? "(not set)", JSON.stringify(after)];
    return was === is ? [] : [`${key}: ${was} → ${is}`];
  });
  const note = changes.length === 0 ? {} : { note: `[Changed by the user before it ran: ${changes.join("; ")}]` };
  return { kind: "run", input: tool.input.parse(merged(input, set)), ...note };
}

function faultOf(tool: AnyTool, input: unknown, set: Record<string, unknown>): string | undefined {
  const parsed = tool.input.safeParse(merged(input, set));
  const [first] = parsed.success ? [] : parsed.error.issues;
  return first === undefined ? undefined : `${first.path.join(".")}: ${first.message}`;
}

function merged(input: unknown, set: Record<string, unknown>): Record<string, unknown> {
  return { ...(input as object), ...set };
}
