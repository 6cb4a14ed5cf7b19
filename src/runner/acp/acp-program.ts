import { CruError } from "../../contract/error.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { type AgentPlace, type AgentProgram, findAgentProgram } from "../agent-program.ts";

const HINT = "name an installed program that speaks the Agent Client Protocol: cru config set acp.command 'PROGRAM ARGUMENTS'";

/** The configured program; a user's mistake when there is none. */
export function findAcpProgram(acp: Settings["acp"], place: AgentPlace): AgentProgram {
  const command = acpCommand(acp);
  if (command === undefined) throw new CruError("provider_missing", "no ACP agent is configured", { hint: HINT });
  return findAgentProgram(command, place, HINT);
}

/** A string is split at its spaces; a program with spaces in its path is written as a list. */
function acpCommand(acp: Settings["acp"]): readonly string[] | undefined {
  const words = typeof acp.command === "string" ? acp.command.split(/\s+/).filter((word) => word !== "") : (acp.command ?? []);
  return words.length === 0 ? undefined : words;
}
