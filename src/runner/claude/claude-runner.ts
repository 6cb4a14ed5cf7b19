import { join } from "node:path";
import type { Outcome, RunBind, RunDeps, Runner, RunRequest } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { protectedState } from "../../sandbox/appeared.ts";
import type { ModelFailureNote, ModelProxy } from "../../sandbox/model-proxy.ts";
import { sandboxFault, sandboxMissing } from "../../sandbox/probe.ts";
import { startSandboxed } from "../../sandbox/start-sandboxed.ts";
import { type AgentProgram, findAgentProgram, programVersion } from "../agent-program.ts";
import { agentSandbox, firstMessage, gatePolicy, GRACE_MS, openModelProxy, runnerNetwork, warnOfAppeared } from "../agent-sandbox.ts";
import { type Credential, findCredential } from "../credential.ts";
import type { RunnerSetup } from "../runner-setup.ts";
import { type AgentState, openAgentState } from "./agent-state.ts";
import { converse, type ProcessEnd } from "./conversation.ts";
import { claudeArguments, claudeEnvironment, type Places } from "./launch.ts";
import { outcomeOf } from "./outcome.ts";
import { versionWarning } from "./versions.ts";

export type ClaudeSetup = RunnerSetup & { claude: Settings["claude"] };

const MAX_RETRIES = 4;
const INSIDE_SOCKET = "/run/crucible/model.sock";
const INSTALL = "install Claude Code (npm install -g @anthropic-ai/claude-code), or name it: cru config set claude.command PATH";

/** The user's own Claude Code CLI as a supervised process in a sandbox. */
export function createClaudeRunner(setup: ClaudeSetup): Runner {
  return { name: "claude", run: (request, deps) => runClaude(request, deps, setup) };
}

async function runClaude(request: RunRequest, deps: RunDeps, setup: ClaudeSetup): Promise<Outcome> {
  const sandboxed = setup.sandbox.mode === "required";
  const program = findAgentProgram([setup.claude.command], { path: setup.env.PATH, workspace: request.workspace, home: setup.home }, INSTALL);
  const credential = findCredential(setup.env, setup.home);
  // Without a sandbox the CLI may have a login of its own that only it can read.
  if (credential === undefined && sandboxed) return notLoggedIn();
  const version = await programVersion(program.path, { PATH: setup.env.PATH ?? "", HOME: setup.home });
  const warning = versionWarning(version);
  const span_id = request.agent.spanId;
  if (warning !== undefined) deps.emit({ type: "warning", span_id, message: warning });
  const state = openAgentState(setup.stateFolder(request.agent), request.agent, request.resume);
  deps.emit({
    type: "agent.process", span_id, runner: "claude", version: version ?? "unknown", external_session: state.session.id, resumed: state.session.resumed, sandboxed,
  });
  let hear: (note: ModelFailureNote) => void = () => {};
  const proxy = credential === undefined ? undefined : await openModelProxy(setup.env, credential, state.session.id, (note) => hear(note));
  try {
    const end = await runProcess({ request, deps, setup, sandboxed, program, credential, state, proxy }, (listener) => (hear = listener));
    return outcomeOf(end, { expectsOutput: request.expectsOutput === true });
  } finally {
    await proxy?.close();
  }
}

type Run = {
  request: RunRequest;
  deps: RunDeps;
  setup: ClaudeSetup;
  sandboxed: boolean;
  program: AgentProgram;
  credential: Credential | undefined;
  state: AgentState;
  proxy: ModelProxy | undefined;
};

async function runProcess(run: Run, onModelFailure: (listener: (note: ModelFailureNote) => void) => void): Promise<ProcessEnd> {
  const { request, deps, setup, sandboxed, program, state, proxy } = run;
  const places: Places = { configFolder: state.configFolder, socket: sandboxed && proxy !== undefined ? INSIDE_SOCKET : proxy?.socket, mcpConfig: writeMcpConfig(run) };
  const command = [program.path, ...claudeArguments(request, state.session, places, setup.claude.args)];
  const env = claudeEnvironment(places, run.credential, { maxRetries: setup.maxRetries ?? MAX_RETRIES, host: setup.env });
  const before = protectedState(request.workspace);
  const network = runnerNetwork(request, deps, setup.sandbox.hosts);
  const child = await startSandboxed(agentSandbox(request, { home: setup.home, binds: bindsOf(run), network }), command, { mode: setup.sandbox.mode, stdin: "pipe", env });
  const { ended, modelFailure } = converse({
    request, deps, state, child, policy: gatePolicy(request, { allow: setup.allow, sandbox: setup.sandbox.mode }), graceMs: setup.graceMs ?? GRACE_MS, firstMessage: firstMessage(request, state.session.resumed),
  });
  onModelFailure(modelFailure);
  const end = await ended.finally(() => child.sweep());
  if (!child.isReady() && end.stopped === undefined) throw sandboxMissing(sandboxFault(end.exit.failure?.message ?? end.stderr));
  if (sandboxed) warnOfAppeared(request, deps, before, state.folder);
  return end;
}

function bindsOf({ program, state, proxy }: Run): RunBind[] {
  return [...program.binds, { from: state.configFolder, writable: true }, ...(proxy === undefined ? [] : [{ from: proxy.socket, to: INSIDE_SOCKET }])];
}

/** A file, because servers may need secrets that a command line would show to everybody. */
function writeMcpConfig({ request, state }: Run): string | undefined {
  if (Object.keys(request.mcpServers).length === 0) return undefined;
  const path = join(state.configFolder, "mcp-servers.json");
  const mcpServers = Object.fromEntries(
    Object.entries(request.mcpServers).map(([name, { command, args, env, url }]) => [name, url === undefined ? { command, args, env } : { type: "http", url }]),
  );
  atomicWrite(path, JSON.stringify({ mcpServers }), { mode: 0o600, sync: false });
  return path;
}

function notLoggedIn(): Outcome {
  const message = "there is no login for the Claude CLI: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN (claude setup-token), or log in with claude";
  return { status: "failed", reason: "auth", text: "", output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, error: { type: "auth", message }, denials: [] };
}
