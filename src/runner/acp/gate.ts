import type { Permission } from "../../contract/permission.ts";
import { namesOf, SPAWN_TOOLS, TOOL_RIGHTS } from "../claude/tool-rights.ts";
import { type GatePolicy, isListed, mcpRights, type Verdict, verdictOn } from "../gate.ts";
import { labelOf, pathsOf, type ToolCall } from "./tool-calls.ts";

/** The protocol's kinds of tools, the right that each needs, and the names that agents of this process know such tools by. */
const KINDS: Readonly<Record<string, { rights: readonly Permission[]; ours: readonly string[] }>> = {
  read: { rights: ["FilesystemRead"], ours: ["read_file", "read_note"] },
  search: { rights: ["FilesystemRead"], ours: ["search_files", "list_files", "list_notes"] },
  edit: { rights: ["FilesystemWrite"], ours: ["write_file", "edit_file"] },
  delete: { rights: ["FilesystemWrite"], ours: ["write_file", "edit_file"] },
  move: { rights: ["FilesystemWrite"], ours: ["write_file", "edit_file"] },
  execute: { rights: ["Shell"], ours: ["run_command"] },
  fetch: { rights: ["NetworkAccess"], ours: ["fetch_url"] },
  think: { rights: [], ours: [] },
};

/** What may run without asking, what never runs, and what a person decides, by the kind of the tool and, where the agent gives a name that we know, by that too. */
export function judge(call: ToolCall, policy: GatePolicy, allowedAll: ReadonlySet<string>): Verdict {
  if (call.kind === "switch_mode") return { kind: "deny", reason: "an agent does not change its own mode" };
  if (SPAWN_TOOLS.includes(call.name)) return { kind: "deny", reason: "Maximum agent depth (2) exceeded" };
  const mcp = mcpRights(call.name, policy);
  return verdictOn(
    {
      names: [call.kind, ...(KINDS[call.kind]?.ours ?? []), ...(call.name === "" ? [] : namesOf(call.name))], label: labelOf(call), rights: mcp === undefined ? rightsOf(call) : mcp.rights,
      paths: pathsOf(call, policy.workspace), runsCommand: call.kind === "execute", isMcp: mcp !== undefined,
    },
    policy,
    allowedAll.has(labelOf(call)),
  );
}

/** Why a call that ran without a question must not have; undefined when it may. What the sandbox holds by itself is left to it. */
export function ranAgainst(call: ToolCall, policy: GatePolicy, allowedAll: ReadonlySet<string>): string | undefined {
  const rights = rightsOf(call) ?? [];
  if (rights.includes("Shell") && !policy.permissions.includes("Shell")) return `it ran ${labelOf(call)}, although it does not have the right Shell`;
  if (allowedAll.has(labelOf(call))) return undefined;
  const names = [call.kind, ...(KINDS[call.kind]?.ours ?? []), ...(call.name === "" ? [] : namesOf(call.name))];
  return isListed(names, rights, policy.requiresApproval) ? `it ran ${labelOf(call)} without asking, although it must ask` : undefined;
}

/** Whether something that an agent does by itself must be asked about: then only an agent that can be made to ask will do. */
export function mustBeGated(policy: GatePolicy): boolean {
  return Object.entries(KINDS).some(([kind, { rights, ours }]) => rights.every((right) => policy.permissions.includes(right)) && isListed([kind, ...ours], rights, policy.requiresApproval));
}

function rightsOf(call: ToolCall): readonly Permission[] | undefined {
  const byKind = KINDS[call.kind]?.rights;
  const byName = call.name === "" ? undefined : TOOL_RIGHTS[call.name];
  return byKind === undefined && byName === undefined ? undefined : [...new Set([...(byKind ?? []), ...(byName ?? [])])];
}
