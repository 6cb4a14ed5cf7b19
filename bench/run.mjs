// `npm run bench`: ratios against a floor, measured in one run. Prints PASS or over and always ends with 0: a busy machine is no failure.
import { cpus } from "node:os";
import { agentLines } from "./agents.mjs";
import { callLines } from "./calls.mjs";
import { medians, printTable } from "./measure.mjs";
import { notesLines } from "./notes.mjs";
import { printWorktrees } from "./worktrees.mjs";
import { discoveryRows, makeWorkloads, startRows } from "./workloads.mjs";

const START_RUNS = 41;
const DISCOVERY_RUNS = 9;

console.log(`Node ${process.versions.node}, ${process.platform}-${process.arch}, ${cpus().length} cores; medians of ${START_RUNS} and ${DISCOVERY_RUNS} interleaved runs`);
const workloads = makeWorkloads();
try {
  const starts = startRows(workloads);
  printTable("Start, over an empty node", starts, medians(starts, START_RUNS));
  const discovery = discoveryRows(workloads);
  printTable("10,000 agent files, over reading them", discovery, medians(discovery, DISCOVERY_RUNS));
} finally {
  workloads.remove();
}
await printWorktrees();
console.log(`\nAgents outside this process\n${(await agentLines()).join("\n")}`);
console.log(`\n20,000 notes\n${(await notesLines()).map((line) => `  ${line}`).join("\n")}`);
console.log(`\n${(await callLines()).join("\n")}`);
