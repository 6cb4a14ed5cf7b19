// Agents outside this process: their output through runner, journal and listener over a bare pipe; its delay; memory with 100 of them. Alone: `node bench/agents.mjs`.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const agent = join(root, "bench", "streaming-agent.mjs");
const LINES = 200_000;
const TURNS = 3;
const STEADY = { lines: 2000, perSecond: 200 };
const SMALL_NURSERY = ["--max-semi-space-size=1"];
const MANY = { agents: 100, speech: { lines: 40, perSecond: 10 } };

export async function agentLines() {
  const folder = mkdtempSync(join(root, "dist", "bench-"));
  try {
    const outfile = join(folder, "agents.mjs");
    await build({
      entryPoints: [join(root, "bench", "agents-entry.ts")], outfile, bundle: true, format: "esm", platform: "node", target: "node20", loader: { ".md": "text" }, external: ["libsql"],
      banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" }, logLevel: "error",
    });
    /** Each in a process of its own, as the orchestrator is. */
    const measure = (call, flags = []) => JSON.parse(execFileSync(process.execPath, [...flags, "--input-type=module", "-e", `import * as m from ${JSON.stringify(pathToFileURL(outfile).href)}; console.log(JSON.stringify(await m.${call}))`], { encoding: "utf8", cwd: root }));
    const [raw, ours, micros] = [[], [], []];
    for (let turn = 0; turn < TURNS; turn++) {
      raw.push(measure(`rawPipe(${JSON.stringify(agent)}, ${LINES})`));
      const { perSecond, cpuMicros } = measure(`throughput(${JSON.stringify(agent)}, ${LINES})`);
      ours.push(perSecond);
      micros.push(cpuMicros);
    }
    const ratio = median(ours) / median(raw);
    const delays = measure(`latencies(${JSON.stringify(agent)}, ${JSON.stringify(STEADY)})`);
    const p99 = delays[Math.floor(delays.length * 0.99)];
    const [plain, small] = [[], SMALL_NURSERY].map((flags) => measure(`memory(${JSON.stringify(agent)}, ${MANY.agents}, ${JSON.stringify(MANY.speech)})`, flags).most / 2 ** 20);
    return [
      `  output, journal, listener over a bare pipe  ${Math.round(median(ours) / 1000)} of ${Math.round(median(raw) / 1000)} thousand lines/s  ${ratio.toFixed(2)}x  >= 0.8x  ${ratio >= 0.8 ? "PASS" : "over"}  (${median(micros).toFixed(1)} us of processor time a line)`,
      `  delay at ${STEADY.perSecond} lines/s  median ${delays[delays.length >> 1].toFixed(1)} ms, p99 ${p99.toFixed(1)} ms  <= 20 ms  ${p99 <= 20 ? "PASS" : "over"}`,
      `  memory with ${MANY.agents} agents speaking  ${plain.toFixed(0)} MB  <= 100 MB  ${plain <= 100 ? "PASS" : "over"}  (${small.toFixed(0)} MB with node ${SMALL_NURSERY.join(" ")})`,
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log((await agentLines()).join("\n"));
