import { type Env, homeFolder } from "../../config/paths.ts";
import type { Emit } from "../../contract/event.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Ask, RunBind } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Redactor } from "../../lib/redact.ts";
import { agentNetwork } from "../../sandbox/agent-network.ts";
import { probeSandbox } from "../../sandbox/probe.ts";
import { askUserTool } from "../../tools/ask-user.ts";
import { databaseExecuteTool } from "../../tools/database-execute.ts";
import { databaseQueryTool } from "../../tools/database-query.ts";
import { editFileTool } from "../../tools/edit-file.ts";
import { fetchUrlTool } from "../../tools/fetch-url.ts";
import { getAgentTool } from "../../tools/get-agent.ts";
import { listFilesTool } from "../../tools/list-files.ts";
import { connectMcpServers, type McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import { readFileTool } from "../../tools/read-file.ts";
import { requestApprovalTool } from "../../tools/request-approval.ts";
import { runCommandTool } from "../../tools/run-command.ts";
import { searchFilesTool } from "../../tools/search-files.ts";
import { writeFileTool } from "../../tools/write-file.ts";
import { offerAside } from "../aside.ts";
import { chooseMcpServers, onThisMachine } from "../mcp/choose-mcp-servers.ts";
import type { Project } from "./open-chat.ts";

/** Whether commands are held by a sandbox here, ours or one that the user vouches for. */
export type Sandbox = { mode: Settings["sandbox"]["mode"]; works: boolean };

export type ToolSetDeps = {
  project: Project;
  workspace: string;
  redactor: Redactor;
  ask: Ask;
  sandbox: Sandbox;
  identity: AgentIdentity;
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  env: Env;
  emit: Emit;
  /** Of the session: an index of many notes is too large for one each agent. */
  notes: readonly AnyTool[];
  /** What commands see beside the workspace. */
  binds: readonly RunBind[];
};

/** Every tool that an agent of this session can have; which of them it gets, its rights decide. */
export function toolSet(deps: ToolSetDeps): AnyTool[] {
  const { project, identity } = deps;
  const network = agentNetwork(deps, project.settings.sandbox.hosts, (message) => deps.emit({ type: "warning", message }));
  const database = { sandbox: { mode: deps.sandbox.mode }, home: homeFolder(deps.env) };
  return [
    readFileTool(),
    listFilesTool(),
    searchFilesTool(),
    writeFileTool(),
    editFileTool(),
    runCommandTool({
      sandbox: { mode: deps.sandbox.mode },
      withoutSandbox: "ask",
      hasSandbox: deps.sandbox.works,
      home: homeFolder(deps.env),
      binds: deps.binds,
      mayWrite: deps.permissions.includes("FilesystemWrite"),
      ...(network === undefined ? {} : { network }),
      marker: {
        v: 1, depth: identity.depth, trace_id: identity.traceId, session_id: identity.sessionId, agent: identity.name, permissions: [...deps.permissions],
      },
      asideFolder: project.paths.user.aside,
      onAppeared: (appeared) => offerAside(appeared, { identity, workspace: deps.workspace }, { paths: project.paths, clock: systemClock, redactor: deps.redactor, emit: deps.emit }),
    }),
    fetchUrlTool(),
    databaseQueryTool(database),
    databaseExecuteTool(database),
    askUserTool({ ask: deps.ask }),
    requestApprovalTool({ ask: deps.ask }),
    getAgentTool({ findAgent: project.find, readPrompt: project.readPrompt }),
    ...deps.notes,
  ];
}

export type McpInput = { workspace: string; permissions: readonly Permission[]; env: Env; warn(message: string): void; /** What the task asks for besides. */ task?: readonly string[] };

/** The servers that settings and task name, connected once per session; those of an untrusted project are not in the settings. */
export async function openMcp({ settings }: Project, { workspace, permissions, env, warn, task = [] }: McpInput): Promise<McpTools> {
  const place = { workspace, home: homeFolder(env), path: env.PATH };
  const chosen = chooseMcpServers({ settings: settings.mcp, task, workspace, env }, onThisMachine(place));
  const mcp = await connectMcpServers(chosen.servers, {
    workspace, home: place.home, mode: settings.sandbox.mode, permissions, ...(env.PATH === undefined ? {} : { path: env.PATH }),
  });
  for (const warning of [...chosen.warnings, ...mcp.warnings]) warn(warning);
  return mcp;
}

/** Starts a real sandbox once, so that everybody knows whether commands are held. */
export async function openSandbox(mode: Sandbox["mode"], env: Env, warn: (message: string) => void): Promise<Sandbox> {
  if (mode === "external") return { mode, works: true };
  if (mode === "off") {
    warn("the sandbox is off: every command is asked about and runs with your rights");
    return { mode, works: false };
  }
  const state = await probeSandbox({ path: env.PATH });
  if (!state.ok) warn(`there is no sandbox here, so every command is asked about: ${state.reason} (${state.remedy})`);
  return { mode, works: state.ok };
}
