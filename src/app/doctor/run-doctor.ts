import { acpCheck } from "./acp.ts";
import { type Check, type DoctorDeps, type DoctorInput, type Finding, finding } from "./check.ts";
import { definitionsCheck } from "./definitions.ts";
import { diskCheck } from "./disk.ts";
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
  nodeCheck, gitCheck, settingsCheck, definitionsCheck, trustCheck, providersCheck, claudeCheck, acpCheck, mcpCheck, sandboxCheck, beadsCheck, diskCheck, locksCheck, worktreesCheck,
];

/** All checks at once; one that breaks is a finding of its own and never hides the others. */
export async function runDoctor(input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> {
  const found = await Promise.all(CHECKS.map((check) => look(check, input, deps)));
  return found.flat();
}

async function look(check: Check, input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> {
  try {
    return await check.look(input, deps);
  } catch (error) {
    return [finding(check.id, "warn", `this check broke: ${error instanceof Error ? error.message : String(error)}`, "please report it")];
  }
}
