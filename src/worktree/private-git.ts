import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { CruError } from "../contract/error.ts";
import { slugify } from "../lib/slug.ts";
import { tipOf, type Worktree } from "./create-worktree.ts";
import { importCommits, type ImportResult, type RunInside } from "./import-commits.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";

export type PrivateGit = {
  /** For the sandbox, beside the worktree itself: the private folder appears where the repository's is, the real objects only to be read. */
  binds: { from: string; to: string; writable?: boolean }[];
  /** After the step: takes the agent's commits over, checked, and puts the private folder away. */
  importCommits(runInside: RunInside): Promise<ImportResult>;
};

const INSIDE_OBJECTS = "/run/crucible/objects";

/**
 * A repository folder of its own for the agent in a worktree. Every git command works inside, and whatever is done to hooks, configuration, refs or
 * objects is done to this copy. Undefined where no sandbox can bind it; the caller decides what that means.
 */
export async function openPrivateGit(input: { worktree: Worktree; stateFolder: string; sandboxed: boolean }, repository: Repository): Promise<PrivateGit | undefined> {
  if (!input.sandboxed || process.platform !== "linux") return undefined;
  const { worktree } = input;
  const tip = await tipOf(worktree.slug, repository);
  if (tip === undefined) throw new CruError("failed", `the branch ${worktree.branch} is gone`);
  await refusePartialClone(repository);
  const home = join(input.stateFolder, "git", slugify(repository.root, 80), worktree.slug);
  const folder = join(home, "common");
  const objects = objectFolders(repository.gitDir);
  // A run that was killed goes on with its own commits; they still start where the branch is.
  if (textOf(join(home, "base")) !== tip || !existsSync(folder)) {
    rmSync(home, { recursive: true, force: true });
    const unfinished = join(home, "new");
    await fill(unfinished, { worktree, objects: objects.length }, repository);
    renameSync(unfinished, folder);
    writeFileSync(join(home, "base"), tip, { mode: 0o600 });
  }
  const empty = join(home, "empty");
  writeFileSync(empty, "");
  return {
    binds: [
      { from: folder, to: repository.gitDir, writable: true },
      ...objects.flatMap((from, i) => [
        { from, to: `${INSIDE_OBJECTS}-${i}` },
        // Its paths are those of the machine; all of them are in the private list already.
        ...(existsSync(join(from, "info", "alternates")) ? [{ from: empty, to: `${INSIDE_OBJECTS}-${i}/info/alternates` }] : []),
      ]),
    ],
    async importCommits(runInside) {
      const result = await importCommits({ worktree, base: tip, folder }, { runInside, repository });
      rmSync(home, { recursive: true, force: true });
      return result;
    },
  };
}

async function fill(folder: string, input: { worktree: Worktree; objects: number }, repository: Repository): Promise<void> {
  const { worktree } = input;
  const admin = join(folder, "worktrees", basename(worktree.gitDir));
  for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks", "logs"]) mkdirSync(join(folder, part), { recursive: true, mode: 0o700 });
  mkdirSync(admin, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "objects/info/alternates"), Array.from({ length: input.objects }, (_, i) => `${INSIDE_OBJECTS}-${i}\n`).join(""));
  const refs = outputOf(await treeGit(repository, {}, ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes"]), "reading the branches");
  writeFileSync(join(folder, "packed-refs"), `${refs}\n`);
  copyFileSync(join(repository.gitDir, "HEAD"), join(folder, "HEAD"));
  for (const optional of ["shallow", "info/exclude"]) if (existsSync(join(repository.gitDir, optional))) copyFileSync(join(repository.gitDir, optional), join(folder, optional));
  for (const file of ["HEAD", "commondir", "gitdir", "index"]) copyFileSync(join(worktree.gitDir, file), join(admin, file));
  writeFileSync(join(folder, "config"), await configFor(repository));
}

/** How files are read and written, and who commits. No remotes: their addresses can hold passwords. Nothing that names a program. */
const TAKEN_OVER = ["core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode", "core.autocrlf", "core.eol"];

async function configFor(repository: Repository): Promise<string> {
  const listed = (await treeGit(repository, {}, ["config", "--local", "--list", "-z"])).stdout.split("\0");
  const taken = listed.flatMap((entry) => {
    const [key = "", value = ""] = [entry.slice(0, entry.indexOf("\n")), entry.slice(entry.indexOf("\n") + 1)];
    return TAKEN_OVER.includes(key) && /^[a-z]+$/.test(value) ? [` ${key.slice("core.".length)} = ${value}`] : [];
  });
  const quoted = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`;
  const sha256 = repository.objectFormat === "sha256";
  return [
    "[core]", ` repositoryformatversion = ${sha256 ? 1 : 0}`, " bare = false", " logallrefupdates = true", ...taken,
    ...(sha256 ? ["[extensions]", " objectFormat = sha256"] : []),
    "[user]", ` name = ${quoted(repository.identity.name)}`, ` email = ${quoted(repository.identity.email)}`,
    "[gc]", " auto = 0", "[maintenance]", " auto = false", "",
  ].join("\n");
}

/** The repository's objects, and those it borrows from others, which may borrow themselves. */
function objectFolders(gitDir: string): string[] {
  const found = new Set([join(gitDir, "objects")]);
  for (const folder of found) {
    for (const line of (textOf(join(folder, "info", "alternates")) ?? "").split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      if (line.startsWith('"')) throw new CruError("unsupported", `${gitDir} borrows objects from a folder with an unusual name`, { hint: "git repack -a -d makes the repository whole" });
      const other = resolve(folder, line);
      if (existsSync(other)) found.add(other);
    }
    if (found.size > 20) throw new CruError("unsupported", `${gitDir} borrows objects from too many other repositories`, { hint: "git repack -a -d makes the repository whole" });
  }
  return [...found];
}

async function refusePartialClone(repository: Repository): Promise<void> {
  const found = await treeGit(repository, {}, ["config", "--get-regexp", "^(extensions\\.partialclone|remote\\..*\\.promisor)$"]);
  if (found.code !== 0) return;
  throw new CruError("unsupported", "a partial clone: objects would have to be fetched while an agent works, and it has no network", { hint: "git fetch --refetch --no-filter, then git config --unset extensions.partialClone and remote.origin.promisor" });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trimEnd();
  } catch {
    return undefined;
  }
}
