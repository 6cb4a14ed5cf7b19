import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { CruError } from "../../contract/error.ts";
import type { RunBind } from "../../contract/runner.ts";
import { runProgram } from "../../lib/subprocess.ts";

export type AgentProgram = { path: string; binds: RunBind[] };

/** The user's program by its real path, never one that lies in the workspace, and what a sandbox must show for it to run. */
export function findProgram(command: string, options: { path: string | undefined; workspace: string }): AgentProgram {
  const candidates = command.includes("/") ? [command] : (options.path ?? "").split(":").filter(isAbsolute).map((folder) => join(folder, command));
  const found = candidates.map(realOf).find((path) => path !== undefined && isProgram(path) && !path.startsWith(options.workspace + sep));
  if (found === undefined) {
    throw new CruError("provider_missing", `the agent program '${command}' was not found`, {
      hint: "install Claude Code (npm install -g @anthropic-ai/claude-code), or name it: cru config set claude.command PATH",
    });
  }
  return { path: found, binds: isNative(found) ? [{ from: found }] : [{ from: packageOf(found) ?? found }] };
}

/** What the program says it is; undefined when it does not say. */
export async function programVersion(path: string, env: Record<string, string>): Promise<string | undefined> {
  const run = await runProgram(path, ["--version"], { env, timeoutMs: 30_000 });
  return /\d+\.\d+\.\d+\S*/.exec(run.stdout)?.[0];
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isNative(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const magic = Buffer.alloc(4);
    readSync(file, magic, 0, 4, 0);
    return magic.equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46]));
  } finally {
    closeSync(file);
  }
}

/** A script needs its package, and npm puts the parts of one for each platform beside it. */
function packageOf(path: string): string | undefined {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, "package.json"))) continue;
    const scope = dirname(folder);
    return /\/node_modules\/@[^/]+$/.test(scope) ? scope : scope.endsWith("/node_modules") ? folder : undefined;
  }
  return undefined;
}
