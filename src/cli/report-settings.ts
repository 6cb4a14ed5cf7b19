import type { LoadedSettings } from "../config/load-settings.ts";
import { problemText } from "../contract/problem.ts";
import { inertLine } from "../lib/inert.ts";
import type { Io } from "./command.ts";

/** What is wrong with the settings, on stderr. The exit code is the one with which a command that runs something would end. */
export function reportSettings(loaded: Pick<LoadedSettings, "problems" | "projectIgnored">, io: Pick<Io, "err">): number {
  for (const problem of loaded.problems) io.err(`${inertLine(problemText(problem))}\n`);
  if (loaded.projectIgnored) io.err("cru: this project's settings are not used, because you have not trusted them (`cru trust` shows them)\n");
  return settingsExitCode(loaded);
}

export function settingsExitCode(loaded: Pick<LoadedSettings, "problems">): number {
  return loaded.problems.some((problem) => problem.severity === "error") ? 3 : 0;
}
