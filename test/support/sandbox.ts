import { describe } from "vitest";
import { probeSandbox } from "../../src/sandbox/probe.ts";

const state = await probeSandbox({ path: process.env.PATH });
if (!state.ok && process.env.CRU_REQUIRE_SANDBOX === "1") throw new Error(`CRU_REQUIRE_SANDBOX=1, but ${state.reason}: ${state.remedy}`);

/** `describe` for what needs a real sandbox: skipped with the reason where there is none; with CRU_REQUIRE_SANDBOX=1 the file fails. */
export const describeSandboxed = (title: string, body: () => void): void => {
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback
  describe.skipIf(!state.ok)(state.ok ? title : `${title} (skipped: ${state.reason})`, body);
};
