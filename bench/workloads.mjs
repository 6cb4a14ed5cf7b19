// Projects to measure on, made in a temporary folder.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const main = join(repository, "dist", "main.js");

/** A home and three projects: 30 agents, the same with 10,000 sessions, and 10,000 agents. */
export function makeWorkloads() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "cru-bench-")));
  const home = join(base, "home");
  mkdirSync(home);
  const few = project(join(base, "few"), 30);
  const sessions = project(join(base, "sessions"), 30);
  for (let i = 0; i < 10_000; i++) writeSession(join(sessions, ".crucible", "sessions", `2026-01-01-task-${i}`), i);
  const many = project(join(base, "many"), 10_000);
  const reader = join(base, "read.mjs");
  writeFileSync(reader, READER);
  return { base, home, few, sessions, many, reader, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** The rows that need nothing but this repository. */
export function startRows({ home, few, sessions }) {
  const cru = row(home);
  return [
    { name: "node -e 0", command: [process.execPath, "-e", "0"], cwd: few, env: environment(home) },
    cru("cru --help", ["--help"], few, 1.2),
    cru("cru agents list, 30 agents", ["agents", "list"], few, 1.5),
    cru("cru agents list, 30 agents, 10,000 sessions", ["agents", "list"], sessions, 1.5),
    // Without words on its input a chat ends when it is ready for them. No model is called.
    { ...cru("cru chat, ready for typing, 30 agents, 10,000 sessions", ["chat", "--plain"], sessions), env: { ...environment(home), ANTHROPIC_API_KEY: "none" }, over: 700 },
  ];
}

export function discoveryRows({ home, many, reader }) {
  const cru = row(home);
  const forget = () => rmSync(join(home, ".cache"), { recursive: true, force: true });
  return [
    { name: "node: read 10,000 agent files", command: [process.execPath, reader, join(many, ".crucible", "agents")], cwd: many, env: environment(home) },
    { ...cru("cru agents list, no index (cold)", ["agents", "list"], many, 6), before: forget },
    cru("cru agents list, with its index (warm)", ["agents", "list"], many, 1.5),
  ];
}

export function environment(home) {
  return { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" };
}

function row(home) {
  return (name, args, cwd, bar) => ({ name, command: [process.execPath, main, ...args], cwd, env: environment(home), bar });
}

function project(folder, agents) {
  mkdirSync(join(folder, ".crucible", "agents"), { recursive: true });
  for (let i = 0; i < agents; i++) writeFileSync(join(folder, ".crucible", "agents", `agent-${i}.md`), agentFile(i));
  return folder;
}

function agentFile(i) {
  const body = `You are agent ${i}. Read the task, do it step by step, and report.\n\n## Method\n${Array.from({ length: 12 }, (_, n) => `${n + 1}. Step ${n + 1} of agent ${i}: look at what is there before you decide anything.\n`).join("")}`;
  return `---\nname: agent-${i}\ndescription: "Agent number ${i}: works on part ${i % 97} of the code base and reports what it found there"\nmodel: sonnet\npermissions: [FilesystemRead, SemanticSearch${i % 3 === 0 ? ", Shell" : ""}]\n---\n${body}\n## Output\nEnd with a section \`## Summary\`.\n`;
}

function writeSession(folder, i) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "metadata.json"), JSON.stringify({ schema: 1, id: `2026-01-01-task-${i}`, status: "completed" }));
  writeFileSync(join(folder, "session.md"), `# Session ${i}\n`);
}

/** What reading the files costs at the least. */
const READER = `import { readdirSync, readFileSync } from "node:fs";
let bytes = 0;
for (const name of readdirSync(process.argv[2])) bytes += readFileSync(process.argv[2] + "/" + name).length;
if (bytes === 0) process.exit(1);
`;
