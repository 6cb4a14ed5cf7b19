import { probeSandbox, type SandboxState } from "../../sandbox/probe.ts";
import { type Check, type Finding, finding } from "./check.ts";

/** Starts a real sandbox: reading kernel settings alone gives wrong answers. */
export const sandboxCheck: Check = {
  id: "sandbox",
  look: async (input) => [sandboxFinding(await probeSandbox({ path: input.env.PATH }))],
};

export function sandboxFinding(state: SandboxState): Finding {
  if (state.ok) return finding("sandbox", "ok", "bubblewrap starts a sandbox");
  const details = state.details.length === 0 ? "" : ` (${state.details.join("; ")})`;
  return finding("sandbox", "warn", `no sandbox, so agent and script steps refuse to run: ${state.reason}${details}`, state.remedy);
}
