import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Outcome, RunBind, RunDeps, RunRequest } from "../../contract/runner.ts";
import { protectedState } from "../../sandbox/appeared.ts";
import type { ModelFailureNote } from "../../sandbox/model-proxy.ts";
import { sandboxFault, sandboxMissing } from "../../sandbox/probe.ts";
import { startSandboxed } from "../../sandbox/start-sandboxed.ts";
import { openAgentMemory } from "../agent-memory.ts";
import { findAgentProgram } from "../agent-program.ts";
import { agentSandbox, gatePolicy, GRACE_MS, runnerNetwork, warnOfAppeared } from "../agent-sandbox.ts";
import { findAcpProgram } from "./acp-program.ts";
import type { AcpSetup } from "./acp-runner.ts";
import { isClaudeProgram } from "./claude-adapter.ts";
import { converse } from "./conversation.ts";
import { agentEnvironment } from "./launch.ts";
import { openModelWays } from "./model-ways.ts";
import { outcomeOf } from "./outcome.ts";

/** One run of the configured agent, from its start to its outcome. */
export async function runAcp(request: RunRequest, deps: RunDeps, setup: AcpSetup): Promise<Outcome> {
  const sandboxed = setup.sandbox.mode === "required";
  const place = { path: setup.env.PATH, workspace: request.workspace, home: setup.home };
  const program = findAcpProgram(setup.acp, place);
  const claude = setup.env.CLAUDE_CODE_EXECUTABLE?.trim() || undefined;
  const behind = claude === undefined ? undefined : findAgentProgram([claude], place, "CLAUDE_CODE_EXECUTABLE must be the path of the Claude CLI");
  const folder = setup.stateFolder(request.agent);
  const agentHome = join(folder, "home");
  mkdirSync(agentHome, { recursive: true, mode: 0o700 });
  const memory = openAgentMemory(folder, request.resume);
  let hear: (note: ModelFailureNote) => void = () => {};
  const ways = sandboxed ? await openModelWays({ env: setup.env, home: setup.home, onlyAnthropic: isClaudeProgram(program.path), session: () => memory.session ?? undefined, onFailure: (note) => hear(note) }) : undefined;
  try {
    const env = agentEnvironment({ sandboxed, home: agentHome, model: ways?.env ?? {}, host: setup.env, maxRetries: setup.maxRetries, claude: behind?.path });
    const before = protectedState(request.workspace);
    const binds = [...program.binds, ...(behind?.binds ?? []), ownHome(agentHome)];
    const spec = { ...agentSandbox(request, { home: setup.home, binds, network: runnerNetwork(request, deps, setup.sandbox.hosts) }), relays: ways?.relays ?? [] };
    const child = await startSandboxed(spec, [program.path, ...program.args], { mode: setup.sandbox.mode, stdin: "pipe", env });
    const { ended, modelFailure } = converse({ request, deps, memory, child, policy: gatePolicy(request, { allow: setup.allow, sandbox: setup.sandbox.mode }), graceMs: setup.graceMs ?? GRACE_MS });
    hear = modelFailure;
    const end = await ended.finally(() => child.sweep());
    if (!child.isReady() && end.stopped === undefined) throw sandboxMissing(sandboxFault(end.exit.failure?.message ?? end.stderr));
    if (sandboxed) warnOfAppeared(request, deps, before, folder);
    return outcomeOf(end, { expectsOutput: request.expectsOutput === true });
  } finally {
    await ways?.close();
  }
}

/** What the agent keeps between its processes; the user's home is not there for it. */
function ownHome(path: string): RunBind {
  return { from: realpathSync(path), to: path, writable: true };
}
