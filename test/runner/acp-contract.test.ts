import { runAcp } from "../support/acp.ts";
import { describeClaude } from "../support/peers.ts";
import { runnerContract } from "./runner-contract.ts";

describeClaude("the contract of runners: acp", () => {
  runnerContract({
    run: (script, { at, ...options }) => runAcp(script, { at, ...options }),
    write: (file_path, content) => ({ tools: [{ name: "Write", input: { file_path, content } }] }),
    command: (command) => ({ tools: [{ name: "Bash", input: { command, description: "run it" } }] }),
  });
});
