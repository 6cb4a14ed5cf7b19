import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readSession } from "../../session/read-session.ts";
import type { Run } from "../command.ts";
import { count } from "../figures.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findSession(paths, args[0] ?? "");
  const folder = join(paths.project.sessions, id);
  const { session, problems } = await readSession(folder);
  if (session === undefined) throw new CruError("failed", `session ${id} cannot be read: ${problems[0]?.message ?? ""}`);
  const files = filesOf(folder);
  const text = files.some((f) => f.name === "session.md") ? readFileSync(join(folder, "session.md"), "utf8") : "";
  if (options.json === true) {
    printJson(io, { session: { ...session.metadata, id, status: session.status, path: relative(paths.root, folder) }, text, files, problems });
    return 0;
  }
  for (const problem of problems) io.err(`${inertLine(problemText(problem))}\n`);
  io.out(`${inert(text).trimEnd()}\n\n`);
  if (session.status !== session.metadata.status) io.out(`Status now: ${session.status} (its process is gone; \`cru ${session.metadata.task === undefined ? "chat" : "task"} --resume ${id}\` goes on)\n`);
  io.out(`Files in ${inertLine(relative(paths.root, folder))}:\n`);
  for (const file of files) io.out(`  ${inertLine(file.name)}  ${count(file.bytes)} bytes\n`);
  return 0;
};

/** Regular files that are not hidden; a symlink is not followed. */
function filesOf(folder: string): { name: string; bytes: number }[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => ({ name: entry.name, bytes: statSync(join(folder, entry.name)).size }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
