import type { Env } from "../../config/paths.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Ask } from "../../contract/runner.ts";
import type { AnyTool } from "../../contract/tool.ts";
import type { SandboxState } from "../../sandbox/probe.ts";
import { askUserTool } from "../../tools/ask-user.ts";
import { getAgentTool } from "../../tools/get-agent.ts";
import { requestApprovalTool } from "../../tools/request-approval.ts";
import { noteTools } from "../notes.ts";
import type { Project } from "./open-chat.ts";

export type ToolSetDeps = {
  project: Project;
  ask: Ask;
  sandbox: SandboxState | undefined;
  identity: AgentIdentity;
  permissions: readonly Permission[];
  env: Env;
};

/** Every tool that an agent of this session can have; which of them it gets, its rights decide. */
export function toolSet(deps: ToolSetDeps): AnyTool[] {
  const { project } = deps;
  return [
    askUserTool({ ask: deps.ask }),
    requestApprovalTool({ ask: deps.ask }),
    getAgentTool({ findAgent: project.find, readPrompt: project.readPrompt }),
    ...noteTools({ paths: project.paths, settings: project.settings, env: deps.env }),
  ];
}
