import { probeSandbox, type SandboxState } from "../../sandbox/probe.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { type Check, type Finding, finding } from "./check.ts";
import { settingsOf } from "./settings.ts";

/** Starts a real sandbox: reading kernel settings alone gives wrong answers. */
export const sandboxCheck: Check = {
  id: "sandbox",
  look: async (input) => [sandboxFinding(await probeSandbox({ path: input.env.PATH })), hostsFinding(settingsOf(input)?.settings.sandbox)],
};

/** What agents with NetworkAccess reach from inside. */
export function hostsFinding(sandbox: Settings["sandbox"] | undefined): Finding {
  if (sandbox === undefined || sandbox.mode !== "required") return finding("sandbox.hosts", "info", "open hosts: the sandbox is not ours, so programs of agents reach what you reach");
  return finding("sandbox.hosts", "info", `open hosts: ${sandbox.hosts.length === 0 ? "none, only the model" : sandbox.hosts.join(", ")}`);
}

export function sandboxFinding(state: SandboxState): Finding {
  if (state.ok) return finding("sandbox", "ok", "bubblewrap starts a sandbox");
  const details = state.details.length === 0 ? "" : ` (${state.details.join("; ")})`;
  return finding("sandbox", "warn", `no sandbox, so agent and script steps refuse to run: ${state.reason}${details}`, state.remedy);
}
