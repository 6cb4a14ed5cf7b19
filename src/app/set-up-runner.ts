import { join } from "node:path";
import { type Env, homeFolder, type Paths } from "../config/paths.ts";
import { durationMs } from "../contract/duration.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { sha256 } from "../lib/sha256.ts";
import { type Refusal, refusalText } from "../sandbox/admit-host.ts";
import { runSandboxed, type SandboxedResult } from "../sandbox/run-sandboxed.ts";
import { packageAccess } from "../worktree/package-access.ts";

export type SetUpPlace = { paths: Paths; settings: Settings; env: Env; /** Hears of hosts that were asked for and are not open. */ warn(message: string): void };

/** Runs the commands of a worktree's set-up: in the sandbox, with the registries and `sandbox.hosts` open and a package cache of the project's own. */
export function setUpRunner(workspace: string, { paths, settings, env, warn }: SetUpPlace): (command: readonly string[]) => Promise<SandboxedResult> {
  const home = homeFolder(env);
  const { mode, hosts } = settings.sandbox;
  const timeoutMs = durationMs(settings.timeouts.script) ?? 300_000;
  // Without a sandbox the tools find the user's own configuration and cache.
  if (mode !== "required") return (command) => runSandboxed({ workspace, writable: true, home }, command, { mode, timeoutMs });
  const told = new Set<string>();
  const onRefused = (refusal: Refusal): void => {
    if (!told.has(refusal.host)) warn(refusalText(refusal, "the set-up", hosts));
    told.add(refusal.host);
  };
  return (command) => {
    const access = packageAccess({ env, home, node: process.execPath, cacheFolder: join(paths.user.cache, "packages", sha256(paths.root).slice(0, 16)) });
    const network = { hosts: [...access.hosts, ...hosts], intranet: access.intranet, onRefused };
    return runSandboxed({ workspace, writable: true, home, binds: access.binds, network }, command, { mode, timeoutMs, env: access.env });
  };
}
