import { readFileSync } from "node:fs";
import { dirname, join, parse, relative } from "node:path";
import { type Env, findPaths, homeFolder, type Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { jsonSchema, type SchemaKind } from "../contract/json-schema.ts";
import { createFile, createFolder, NotOurFolder } from "../lib/create-file.ts";
import { openTrust } from "../trust/open-trust.ts";
import { trustFiles, type WrittenFile } from "../trust/trust-files.ts";
import { CONFIG_TEMPLATE } from "./init-config.ts";

export type InitResult = {
  root: string;
  git: boolean;
  /** Relative to the project, in the order in which they were looked at. */
  items: { path: string; status: "created" | "kept"; note?: string }[];
  /** Definitions that were here before and that nobody has trusted yet. */
  untrusted: number;
};

/** Sets a project up. Everything that is there already is kept as it is; running it again changes nothing. */
export async function initProject(input: { cwd: string; env: Env }): Promise<InitResult> {
  const paths = findPaths(input.cwd, input.env);
  refuseUnfitRoot(paths.root, input.env);
  const items: InitResult["items"] = [];
  const written: WrittenFile[] = [];
  const note = (path: string, created: boolean, words?: string): void =>
    void items.push({ path: relative(paths.root, path), status: created ? "created" : "kept", ...(words === undefined ? {} : { note: words }) });

  try {
    const { project } = paths;
    for (const folder of [project.agents, project.grimoires, project.spells]) note(folder, createFolder(paths.root, folder));
    const created = createFile(project.config, CONFIG_TEMPLATE);
    if (created) written.push({ path: project.config, content: CONFIG_TEMPLATE });
    note(project.config, created);
    for (const kind of ["config", "agent", "grimoire"] as const) {
      const { path, created: fresh, current } = writeSchema(paths.root, schemaFolder(paths), kind);
      note(path, fresh, current ? undefined : "of another version of cru; delete it and run `cru init` again to renew it");
    }
    for (const folder of [project.sessions, project.inbox, project.cache, project.logs, project.worktrees, project.requests]) {
      createFolder(paths.root, folder);
      const ignore = join(folder, ".gitignore");
      note(ignore, createFile(ignore, "*\n"));
    }
  } catch (error) {
    throw asUsersMistake(error, paths.root);
  }
  await trustFiles(paths, written);
  const untrusted = openTrust(paths, {}).changes().filter((change) => change.kind !== "removed").length;
  return { root: paths.root, git: paths.gitDir !== undefined, items, untrusted };
}

export function schemaFolder(paths: Paths): string {
  return join(dirname(paths.project.agents), "schemas");
}

/** The schema that editors check a file against while it is written. */
export function writeSchema(base: string, folder: string, kind: SchemaKind): { path: string; created: boolean; current: boolean } {
  createFolder(base, folder);
  const path = join(folder, `${kind}.schema.json`);
  const content = `${JSON.stringify(jsonSchema(kind), null, 2)}\n`;
  const created = createFile(path, content);
  return { path, created, current: created || readText(path) === content };
}

/** What the disk or a link in the way says, in words for the user; bugs pass through. */
export function asUsersMistake(error: unknown, root: string): unknown {
  if (error instanceof NotOurFolder) {
    return new CruError("usage", `${relative(root, error.path)} is a link or a file, not a folder; nothing is written through it`, {
      hint: "look where it leads, remove it, and run the command again",
      cause: error,
    });
  }
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || !["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"].includes(code)) return error;
  return new CruError("failed", `cannot write ${path ?? root} (${code})`, { hint: "check the rights of the folder and the space on the disk", cause: error });
}

export function refuseUnfitRoot(root: string, env: Env): void {
  if (root !== homeFolder(env) && root !== parse(root).root) return;
  throw new CruError("usage", `${root} is ${root === parse(root).root ? "the whole disk" : "your home folder"}, not a project`, {
    hint: "change into a project's folder first; agents of your own for every project: `cru agents new NAME --system`",
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
