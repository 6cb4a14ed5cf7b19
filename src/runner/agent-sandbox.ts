import { join } from "node:path";
import type { Env } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { RunBind, RunDeps, RunRequest } from "../contract/runner.ts";
import { agentNetwork } from "../sandbox/agent-network.ts";
import { moveAppeared, type protectedState } from "../sandbox/appeared.ts";
import { type ModelFailureNote, type ModelProxy, startModelProxy } from "../sandbox/model-proxy.ts";
import type { SandboxNetwork, SandboxSpec } from "../sandbox/spec.ts";
import type { Credential } from "./credential.ts";
import type { GatePolicy } from "./gate.ts";

/** From SIGTERM to SIGKILL. */
export const GRACE_MS = 10_000;
const CONTINUE = "You were interrupted. Go on with the task from where you were; if your last action has no result, find out whether it took effect before you repeat it.";

/** What a program that is started hears first: the task, the user's next words, or that it was cut short. */
export function firstMessage(request: Pick<RunRequest, "prompt" | "followUp">, resumed: boolean): string {
  if (resumed) return request.followUp ?? CONTINUE;
  return request.followUp === undefined ? request.prompt : `${request.prompt}\n\n${request.followUp}`;
}
const DEFAULT_ENDPOINT = "https://api.anthropic.com";

/** What a whole agent sees: its workspace by its rights, what its program needs, and who it is. */
export function agentSandbox(request: RunRequest, options: { home: string; binds: readonly RunBind[]; network?: SandboxNetwork | undefined }): SandboxSpec {
  return {
    ...(options.network === undefined ? {} : { network: options.network }),
    workspace: request.workspace,
    writable: request.permissions.includes("FilesystemWrite"),
    home: options.home,
    binds: [...options.binds, ...(request.binds ?? [])],
    marker: {
      v: 1, depth: request.agent.depth, trace_id: request.agent.traceId, session_id: request.agent.sessionId, agent: request.agent.name, permissions: [...request.permissions],
    },
  };
}

/** The open hosts, for an agent that has the right; what it asks for beyond them is told once. */
export function runnerNetwork(request: RunRequest, deps: Pick<RunDeps, "emit">, hosts: readonly string[]): SandboxNetwork | undefined {
  return agentNetwork(request, hosts, (message) => deps.emit({ type: "warning", span_id: request.agent.spanId, message }));
}

export function gatePolicy(request: RunRequest, options: Pick<GatePolicy, "allow" | "sandbox">): GatePolicy {
  const { permissions, requiresApproval, workspace, mcpServers } = request;
  return { permissions, requiresApproval, workspace, mcpServers, depth: request.agent.depth, ...options };
}

/** The way to the user's Anthropic endpoint, with the user's login added outside. */
export function openModelProxy(env: Env, credential: Credential, session: string | (() => string | undefined), onFailure: (note: ModelFailureNote) => void): Promise<ModelProxy> {
  const endpoint = env.ANTHROPIC_BASE_URL?.trim() || DEFAULT_ENDPOINT;
  if (!/^https?:\/\//.test(endpoint)) throw new CruError("invalid_setting", `ANTHROPIC_BASE_URL is no http address: ${endpoint}`);
  return startModelProxy({ endpoint, credentials: () => credential.headers(), session, onFailure });
}

/** What configures agents or git and was not there before leaves the workspace, and that is told. */
export function warnOfAppeared(request: RunRequest, deps: Pick<RunDeps, "emit">, before: ReturnType<typeof protectedState>, folder: string): void {
  if (!request.permissions.includes("FilesystemWrite")) return;
  for (const { name, movedTo } of moveAppeared(request.workspace, before, { allowed: [], folder: join(folder, "aside") })) {
    deps.emit({ type: "warning", span_id: request.agent.spanId, message: `the agent made ${name}, which configures agents or git; it was moved to ${movedTo}` });
  }
}
