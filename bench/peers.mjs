// `npm run bench:peers`: the same tables with other programs in them. They are installed into a user-level cache, never into this project.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { medians, printTable } from "./measure.mjs";
import { discoveryRows, environment, makeWorkloads, startRows } from "./workloads.mjs";

// On Node 20 an unpinned Claude Code silently installs an old version.
const PROGRAMS = [
  { package: "@openai/codex", bin: "codex" },
  { package: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude" },
  { package: "opencode-ai", bin: "opencode" },
  { package: "@google/gemini-cli", bin: "gemini" },
];
const PARSERS = [
  { package: "gray-matter", parse: `import matter from "gray-matter"; const parse = (text) => matter(text, {}).data;` },
  { package: "yaml", parse: `import { parse as yaml } from "yaml"; const parse = (text) => yaml(text.split("\\n---\\n", 1)[0].slice(4));` },
];
const START_RUNS = 11;
const DISCOVERY_RUNS = 5;

const cache = join(process.env.XDG_CACHE_HOME?.startsWith("/") ? process.env.XDG_CACHE_HOME : join(homedir(), ".cache"), "crucible", "bench-peers");
const skipped = [];
const workloads = makeWorkloads();
try {
  const starts = [...startRows(workloads), ...PROGRAMS.flatMap(programRow)].filter(works);
  printTable("Start, over an empty node", starts, medians(starts, START_RUNS));
  const discovery = [...discoveryRows(workloads), ...PARSERS.flatMap(parserRow)].filter(works);
  printTable("10,000 agent files, over reading them", discovery, medians(discovery, DISCOVERY_RUNS));
} finally {
  workloads.remove();
}
if (skipped.length > 0) console.log(`\nLeft out:\n${skipped.map((line) => `  ${line}`).join("\n")}`);

function programRow(peer) {
  const installed = install(peer);
  if (installed === undefined) return [];
  return [{ name: `${peer.bin} --help`, note: installed.version, command: [join(installed.folder, "node_modules", ".bin", peer.bin), "--help"], cwd: workloads.few, env: environment(workloads.home) }];
}

function parserRow(peer) {
  const installed = install(peer);
  if (installed === undefined) return [];
  const script = join(installed.folder, "parse.mjs");
  writeFileSync(script, `import { readdirSync, readFileSync } from "node:fs";
${peer.parse}
let found = 0;
for (const name of readdirSync(process.argv[2])) found += parse(readFileSync(process.argv[2] + "/" + name, "utf8")).name === undefined ? 0 : 1;
if (found === 0) process.exit(1);
`);
  return [{ name: `${peer.package}: read and parse them`, note: installed.version, command: [process.execPath, script, join(workloads.many, ".crucible", "agents")], cwd: workloads.many, env: environment(workloads.home) }];
}

/** Where the peer is and which version it has; undefined, with a reason, when it cannot be installed. */
function install({ package: name, version = "latest" }) {
  const folder = join(cache, `${name.replaceAll("/", "_")}-${version}`);
  const manifest = join(folder, "node_modules", name, "package.json");
  if (!existsSync(manifest)) {
    console.error(`installing ${name}@${version} into ${folder}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", `${name}@${version}`], { cwd: folder, encoding: "utf8", timeout: 600_000 });
    if (npm.status !== 0 || !existsSync(manifest)) {
      skipped.push(`${name}@${version}: npm could not install it (${reason(npm)})`);
      return undefined;
    }
  }
  return { folder, version: JSON.parse(readFileSync(manifest, "utf8")).version };
}

function works(row) {
  try {
    row.before?.();
    medians([{ ...row, before: undefined }], 0);
    return true;
  } catch (error) {
    skipped.push(error.message);
    return false;
  }
}

function reason({ error, signal, status, stderr }) {
  const line = (stderr ?? "").split("\n").find((text) => /npm (error|ERR!)/.test(text));
  return error?.message ?? line ?? signal ?? `exit code ${status}`;
}
