import { isAbsolute } from "node:path";
import { homeFolder } from "../../config/paths.ts";
import { findCredential } from "../../runner/credential.ts";
import { type Check, type DoctorDeps, type DoctorInput, type Finding, finding, plainEnv, versionIn } from "./check.ts";
import { settingsOf } from "./settings.ts";

/** The command comes from flags, the environment and the user's own settings; a project's file cannot name one. */
export const claudeCheck: Check = {
  id: "claude",
  async look(input, deps) {
    const settings = settingsOf(input)?.settings;
    const command = settings?.claude.command ?? "claude";
    const fix = "install Claude Code (npm install -g @anthropic-ai/claude-code) and log in with `claude`, or use `runner: model` with a provider's key";
    if (command.includes("/") && !isAbsolute(command)) return [finding("claude", "warn", "claude.command is a relative path, which means another program in every folder", "write the whole path, or only the name")];
    const found = await program("claude", command, ["--version"], input, deps);
    if (found?.status === "ok") return [found, ...(settings?.sandbox.mode === "required" ? login(input) : [])];
    return [found ?? finding("claude", "warn", `${command} was not found: agents can only run inside cru, on a provider's key`, fix)];
  },
};

/** Inside the sandbox the program cannot reach a login that only it knows how to read. */
function login({ env }: DoctorInput): Finding[] {
  if (findCredential(env, homeFolder(env)) !== undefined) return [];
  return [finding("claude.login", "warn", "there is no login for the Claude CLI", "log in with `claude`, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`)")];
}

export const beadsCheck: Check = {
  id: "bd",
  async look(input, deps) {
    return [(await program("bd", "bd", ["version"], input, deps)) ?? finding("bd", "info", "bd is not installed: cru keeps beads itself, in the same format")];
  },
};

/** Undefined when there is no such program. Started outside the project, so that a relative PATH finds nothing in it. */
async function program(id: string, command: string, args: string[], input: DoctorInput, deps: DoctorDeps): Promise<Finding | undefined> {
  const run = await deps.run(command, args, { env: plainEnv(input.env), cwd: "/", timeoutMs: 10_000, maxBytes: 10_000 });
  if (run.notFound) return undefined;
  const call = `\`${command} ${args.join(" ")}\``;
  if (run.failure !== null) return finding(id, "warn", run.failure.message, `check that ${command} may be run`);
  if (run.timedOut) return finding(id, "warn", `${call} did not answer within 10 s`, "run it by hand");
  const version = versionIn(run.stdout);
  if (run.code !== 0 || version === undefined) return finding(id, "warn", `${call} failed (${run.code === null ? run.signal : `exit ${run.code}`})`, "run it by hand");
  return finding(id, "ok", `${id} ${version.join(".")}`);
}
