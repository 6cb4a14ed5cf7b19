import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadAgents } from "../../src/catalog/agents.ts";
import type { Loaded } from "../../src/catalog/load-definitions.ts";
import { findPaths, type Paths } from "../../src/config/paths.ts";
import type { Agent } from "../../src/contract/agent.ts";
import { shownPath } from "../../src/lib/shown-path.ts";
import { temporaryFolder, writeFiles } from "./temp.ts";

export type AgentWorld = { base: string; home: string; project: string; paths: Paths; indexFile: string; load(): Promise<Loaded<Agent>> };

/** A home and a project with the given files, and the catalog of agents as it is seen from there. */
export function agentWorld(files: { project?: Record<string, string | Uint8Array>; home?: Record<string, string | Uint8Array> } = {}): AgentWorld {
  const base = temporaryFolder();
  const home = join(base, "home");
  const project = join(base, "project");
  for (const folder of [home, join(project, ".crucible/agents")]) mkdirSync(folder, { recursive: true });
  writeFiles(home, files.home ?? {});
  writeFiles(project, files.project ?? {});
  const paths = findPaths(project, { HOME: home });
  const indexFile = join(base, "cache", "agents.json");
  return { base, home, project, paths, indexFile, load: () => loadAgents(paths, { indexFile, show: (path) => shownPath(path, { root: paths.root, home }) }) };
}

/** A valid agent file; `lines` replaces or adds frontmatter lines. */
export function agentFile(name: string, lines: Record<string, string> = {}, body = "You are an agent."): string {
  const all = { name, description: `Does what ${name} does`, permissions: "[FilesystemRead]", ...lines };
  return `---\n${Object.entries(all).map(([key, value]) => `${key}: ${value}\n`).join("")}---\n${body}\n`;
}
