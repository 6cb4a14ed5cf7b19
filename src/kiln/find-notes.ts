import { readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { git } from "../lib/git.ts";

/** `gitDir` of the project's own repository; undefined outside of one, then the folder is walked. */
export type NotesPlace = { root: string; gitDir: string | undefined };

const NOTE = /\.(?:md|markdown)$/i;
/** What agents and tools leave behind is no knowledge of the project. */
const NOT_NOTES = /(?:^|\/)(?:node_modules|\.git)\/|^\.crucible\/(?:sessions|inbox|cache)\/|^\.coven\/(?:worktrees|logs|requests)\/|^\.claude\/worktrees\//;
const MOST_LISTED_BYTES = 64 << 20;
const MOST_WALKED = 200_000;

/** Paths of notes below the root, sorted. Tracked files and new ones that are not ignored. */
export async function findNotes(place: NotesPlace, signal?: AbortSignal): Promise<string[]> {
  const listed = (await fromGit(place, signal)) ?? [...walk(place.root)];
  const notes = new Set<string>();
  for (const path of listed) if (NOTE.test(path) && !NOT_NOTES.test(path)) notes.add(path);
  return [...notes].sort();
}

/** The workspace may be a worktree that an agent writes to: git is told the repository instead of looking for it there. */
async function fromGit({ root, gitDir }: NotesPlace, signal: AbortSignal | undefined): Promise<string[] | undefined> {
  if (gitDir === undefined) return undefined;
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", ":(icase)*.md", ":(icase)*.markdown"];
  const listed = await git({ gitDir, workTree: root }, args, { maxBytes: MOST_LISTED_BYTES, ...(signal === undefined ? {} : { signal }) });
  return listed.code === 0 && !listed.truncated ? listed.stdout.split("\0") : undefined;
}

function* walk(root: string): Generator<string> {
  const folders = [""];
  let left = MOST_WALKED;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(join(root, folder))) {
      if (left-- <= 0) return;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && !NOT_NOTES.test(`${path}/`) && isSearched(path)) folders.push(path);
    }
  }
}

function isSearched(folder: string): boolean {
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  return !name.startsWith(".") || [".crucible", ".coven", ".claude"].includes(folder);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
