import { acpCheck } from "./acp.ts";
import { type Check, type DoctorDeps, type DoctorInput, type Finding, finding } from "./check.ts";
import { definitionsCheck } from "./definitions.ts";
import { diskCheck, writableCheck } from "./disk.ts";
import { gitCheck } from "./git.ts";
import { locksCheck, worktreesCheck } from "./leftovers.ts";
import { mcpCheck } from "./mcp.ts";
import { nodeCheck } from "./node.ts";
import { beadsCheck, claudeCheck } from "./programs.ts";
import { providersCheck } from "./providers.ts";
import { sandboxCheck } from "./sandbox.ts";
import { settingsCheck } from "./settings.ts";
import { trustCheck } from "./trust.ts";

/** In the order in which they are shown. */
const CHECKS: readonly Check[] = [
  nodeCheck, gitCheck, settingsCheck, definitionsCheck, trustCheck, providersCheck, claudeCheck, acpCheck, mcpCheck, sandboxCheck, beadsCheck, writableCheck, diskCheck, locksCheck, worktreesCheck,
];

/** All checks at once; one that breaks is a finding of its own and never hides the others. */
export async function runDoctor(input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> {
  const found = await Promise.all(CHECKS.map((check) => look(check, input, deps)));
  return found.flat();
}

/** Whether anything is there that an agent could run on: a model, or an agent program with a login. */
export function agentsCanRun(found: readonly Finding[]): boolean {
  const without = (id: string): boolean => !found.some((f) => f.id === id && f.status !== "ok");
  return found.some(({ id, status }) => status === "ok" && (id === "providers.anthropic" || id === "providers.openai" || (id === "claude" && without("claude.login")) || id === "acp"));
}

async function look(check: Check, input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> {
  try {
    return await check.look(input, deps);
  } catch (error) {
    return [finding(check.id, "warn", `this check broke: ${error instanceof Error ? error.message : String(error)}`, "please report it")];
  }
}
