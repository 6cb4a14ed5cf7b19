import { runModel } from "../support/model-runner.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { runnerContract } from "./runner-contract.ts";

describeSandboxed("the contract of runners: model", () => {
  runnerContract({
    run: runModel,
    write: (path, content) => ({ tools: [{ name: "write_file", input: { path, content } }] }),
    command: (command) => ({ tools: [{ name: "run_command", input: { command } }] }),
  });
});
