import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder, writeFiles } from "./temp.ts";

export const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(repository, "dist", "main.js");

export type Finished = { code: number; stdout: string; stderr: string };

export type Machine = {
  home: string;
  project: string;
  /** Runs the built program as a user would, with a home of its own. */
  cru(args: string[], options?: { cwd?: string; env?: Record<string, string>; input?: string }): Promise<Finished>;
};

/** A user's machine of its own: an empty home and a project folder with the given files. */
export function machine(files: { project?: Record<string, string | Uint8Array>; home?: Record<string, string | Uint8Array> } = {}): Machine {
  const base = temporaryFolder();
  const home = join(base, "home");
  const project = join(base, "project");
  mkdirSync(home);
  mkdirSync(project);
  writeFiles(home, files.home ?? {});
  writeFiles(project, files.project ?? {});
  return {
    home,
    project,
    cru: (args, options = {}) =>
      finish(process.execPath, [main, ...args], {
        cwd: options.cwd ?? project,
        input: options.input ?? "",
        env: { PATH: process.env.PATH ?? "", HOME: home, NO_COLOR: "1", ...options.env },
      }),
  };
}

export function finish(command: string, args: string[], options: { cwd: string; env: Record<string, string>; input?: string }): Promise<Finished> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", fail);
    child.on("close", (code, signal) => done({ code: code ?? (signal === null ? -1 : 128), stdout, stderr }));
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}
