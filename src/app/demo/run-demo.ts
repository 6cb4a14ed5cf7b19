import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { runProgram } from "../../lib/subprocess.ts";
import { probeSandbox } from "../../sandbox/probe.ts";
import { startScriptedModel } from "../../scripted/start-scripted-model.ts";
import { ACCEPTANCE, DEMO_SCRIPT, QUESTION, TASK } from "./demo-script.ts";
import { makeExampleProject } from "./example-project.ts";

export type DemoInput = {
  env: Env;
  /** How this program is started: the interpreter and its file. */
  cru: readonly [string, ...string[]];
  keep: boolean;
  signal: AbortSignal;
};

/** Shows the main job on a throw-away repository: every command is run for real, as a user would type it; only the model follows a script. */
export async function runDemo(input: DemoInput, say: (text: string) => void): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "cru-demo-")));
  const model = await startScriptedModel({ script: DEMO_SCRIPT });
  const project = join(base, "till");
  try {
    const sandbox = await probeSandbox({ path: input.env.PATH });
    const stage = { ...input, project, say, sandboxed: sandbox.ok, env: demoEnv(input.env, { base, url: model.url, sandboxed: sandbox.ok }) };
    say("A real repository, real git, real processes and a real sandbox. Only the model is scripted, so that no key is needed.\n");
    if (!sandbox.ok) say(`No sandbox here (${sandbox.reason}): commands of the demo's agents run without one. To have one: ${sandbox.remedy}\n`);
    say(`Everything happens in a throw-away folder${input.keep ? `: ${project}` : "; --keep keeps it"}.\n`);
    await makeExampleProject(project);
    await play(stage);
    if (input.keep) say(`\nThe repository is kept: cd ${project}\n`);
  } finally {
    await model.close();
    if (!input.keep) rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  }
}

type Stage = Omit<DemoInput, "env"> & { env: Record<string, string>; project: string; sandboxed: boolean; say: (text: string) => void };

async function play(stage: Stage): Promise<void> {
  heading(stage, 1, "A project with a failing test");
  await show(stage, ["node", "--test"], { exit: 1, only: /^(not ok|✖|expected:|actual:|# (pass|fail))/ });

  heading(stage, 2, "An agent plans, lets a subagent look, and asks before it touches what configures agents");
  await show(stage, ["cru", "chat", "-p", QUESTION], { exit: NEEDS_PERSON });
  const item = await pending(stage);
  if (item === undefined) throw unexpected("no question is in the inbox");

  heading(stage, 3, "You see the exact change, and decide");
  await show(stage, ["cru", "inbox", "show", item.id]);
  await show(stage, ["cru", "inbox", "approve", item.id, "--resume"]);

  heading(stage, 4, `A task: an agent alone in a ${stage.sandboxed ? "sandboxed " : ""}worktree, on a branch of its own`);
  await show(stage, ["cru", "task", TASK, "--accept", ACCEPTANCE, "--runner", "model"], { exit: stage.sandboxed ? 0 : NEEDS_PERSON });
  if (!stage.sandboxed) await confirmCommand(stage);
  const { beads: [bead] } = await ask<{ beads: { id: string }[] }>(stage, ["beads", "list", "--json"]);
  if (bead === undefined) throw unexpected("the task left no bead");

  heading(stage, 5, "What happened, and the proof");
  const { sessions } = await ask<{ sessions: { id: string }[] }>(stage, ["sessions", "list", "--json"]);
  for (const { id } of sessions.toReversed()) await show(stage, ["cru", "sessions", "trace", id]);
  await show({ ...stage, project: join(stage.project, ".coven", "worktrees", bead.id) }, ["node", "--test"], { only: /^(ok|✔|# (pass|fail))/, note: "in the worktree" });
  await show(stage, ["git", "status", "--short"], { note: "the main checkout: the agent that you approved, and the list of tasks" });
}

const NEEDS_PERSON = 4;

type Item = { id: string; status: string; confirm_word: string | null };

async function pending(stage: Stage): Promise<Item | undefined> {
  const { items } = await ask<{ items: Item[] }>(stage, ["inbox", "list", "--json"]);
  return items.find(({ status }) => status === "pending");
}

/** Where there is no sandbox, each command of an agent needs a word. */
async function confirmCommand(stage: Stage): Promise<void> {
  const item = await pending(stage);
  if (item === undefined) throw unexpected("a command without a sandbox was not asked about");
  await show(stage, ["cru", "inbox", "approve", item.id, "--confirm", item.confirm_word ?? "", "--resume"]);
}

function heading({ say }: Stage, number: number, words: string): void {
  say(`\n${number}. ${words}\n`);
}

/** Runs a command as the user would and shows what it prints. An exit code that the demo does not expect ends it. */
async function show(stage: Stage, command: readonly [string, ...string[]], options: { exit?: number; only?: RegExp; note?: string } = {}): Promise<void> {
  const { say } = stage;
  say(`\n  $ ${command.map(quoted).join(" ")}${options.note === undefined ? "" : `    # ${options.note}`}\n`);
  let rest = "";
  const lines = (text: string): void => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) if (options.only?.test(line.trim()) !== false) say(line === "" ? "\n" : `  ${line}\n`);
  };
  const result = await run(stage, command, (_stream, text) => lines(text));
  if (rest !== "") lines("\n");
  const expected = options.exit ?? 0;
  if (result.code !== expected) throw unexpected(`\`${command.join(" ")}\` ended with ${result.code ?? result.signal ?? result.failure?.message}, not with ${expected}`);
}

async function ask<T>(stage: Stage, args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await run(stage, ["cru", ...args]);
  if (code !== 0) throw unexpected(`\`cru ${args.join(" ")}\` ended with ${code}: ${stderr.trim()}`);
  return JSON.parse(stdout) as T;
}

async function run(stage: Stage, [name, ...args]: readonly [string, ...string[]], onOutput?: (stream: "stdout" | "stderr", text: string) => void) {
  const [program, ...first] = name === "cru" ? stage.cru : name === "node" ? [process.execPath] : [name];
  const result = await runProgram(program ?? name, [...first, ...args], { cwd: stage.project, env: stage.env, signal: stage.signal, ...(onOutput === undefined ? {} : { onOutput }) });
  if (result.aborted) throw new CruError("interrupted", "the demo was interrupted");
  return result;
}

/** A home of its own: the demo neither reads nor leaves anything in the user's. */
function demoEnv(env: Env, { base, url, sandboxed }: { base: string; url: string; sandboxed: boolean }): Record<string, string> {
  const home = join(base, "home");
  mkdirSync(home);
  return {
    PATH: env.PATH ?? "",
    HOME: home,
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    GIT_PAGER: "cat",
    GIT_CONFIG_NOSYSTEM: "1",
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "the-demo-needs-no-key",
    ...(sandboxed ? {} : { CRU_SANDBOX_MODE: "off" }),
  };
}

function unexpected(message: string): CruError {
  return new CruError("failed", `the demo did not go as it should: ${message}`, { hint: "`cru demo --keep` leaves the folder to look at; `cru doctor` says what is missing on this machine" });
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replaceAll(/["\\$`]/g, "\\$&")}"`;
}
