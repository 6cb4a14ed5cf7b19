import type { Env, Paths } from "../config/paths.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import type { AnyTool } from "../contract/tool.ts";
import { endpointEmbedder, type Embedder } from "../kiln/embedder.ts";
import { type Kiln, openKiln } from "../kiln/open-kiln.ts";
import { listNotesTool } from "../tools/list-notes.ts";
import { readNoteTool } from "../tools/read-note.ts";
import { semanticSearchTool } from "../tools/semantic-search.ts";

export type NotesInput = { paths: Pick<Paths, "gitDir" | "user" | "builtin">; settings: Pick<Settings, "notes">; env: Env };

/** The notes below a folder: the project's root, or a worktree of it. */
export function openNotes(input: NotesInput, root: string): Kiln {
  const { paths } = input;
  return openKiln({ root, gitDir: paths.gitDir, cacheFolder: paths.user.cache, wordVectors: paths.builtin.wordVectors }, { embedder: embedderOf(input) });
}

/** `read_note`, `list_notes` and `semantic_search`. An index is opened when it is first asked for, one for each workspace. */
export function noteTools(input: NotesInput): AnyTool[] {
  const kilns = new Map<string, Kiln>();
  const kilnOf = (workspace: string): Kiln => {
    const kiln = kilns.get(workspace) ?? openNotes(input, workspace);
    kilns.set(workspace, kiln);
    return kiln;
  };
  return [readNoteTool({ kilnOf }), listNotesTool({ kilnOf }), semanticSearchTool({ kilnOf })];
}

/** The key is no setting: it stays out of files and of `config get`. */
function embedderOf({ settings, env }: NotesInput): Embedder | undefined {
  const { embeddings_url: url, embeddings_model: model } = settings.notes;
  if (url === null) return undefined;
  return endpointEmbedder({ url, model: model ?? "text-embedding-3-small", key: env.CRU_NOTES_EMBEDDINGS_KEY });
}
