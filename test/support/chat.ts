import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import type { CruEvent } from "../../src/contract/event.ts";
import type { SessionMetadata } from "../../src/contract/session.ts";
import type { Script } from "../../src/scripted/script.ts";
import { type Finished, type Machine, machine } from "./cru.ts";
import { scripted } from "./scripted.ts";

export type ChatMachine = Machine & {
  requests: Awaited<ReturnType<typeof scripted>>["requests"];
  env: Record<string, string>;
  /** `cru chat -p …` against the scripted model. */
  chat(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Finished>;
  sessions(): string[];
  /** The newest session, read back from disk. */
  session(id?: string): SavedSession;
};

export type SavedSession = {
  id: string;
  folder: string;
  files: string[];
  metadata: SessionMetadata;
  events: CruEvent[];
  /** Frontmatter and body of a markdown file. */
  markdown(name: string): { head: Record<string, unknown>; body: string };
  /** The one subagent file of this agent. */
  child(agent: string): { head: Record<string, unknown>; body: string; name: string };
};

/** A user's machine with a model that follows the script. */
export async function chatMachine(script: Script, files: Parameters<typeof machine>[0] = {}): Promise<ChatMachine> {
  const server = await scripted(script);
  const box = machine(files);
  const env = { ANTHROPIC_API_KEY: "sk-ant-canary-0123456789", ANTHROPIC_BASE_URL: server.url };
  const folder = join(box.project, ".crucible", "sessions");
  const sessions = (): string[] => readdirSync(folder).filter((n) => /^\d/.test(n)).sort();
  return {
    ...box,
    env,
    requests: server.requests,
    chat: (args, options = {}) => box.cru(["chat", "-p", ...args], { ...options, env: { ...env, ...options.env } }),
    sessions,
    session: (id) => readSaved(join(folder, id ?? sessions().at(-1) ?? "")),
  };
}

function readSaved(folder: string): SavedSession {
  const files = readdirSync(folder).sort();
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const markdown = (name: string): { head: Record<string, unknown>; body: string } => {
    const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read(name)) ?? [];
    return { head: load(head) as Record<string, unknown>, body };
  };
  return {
    id: folder.split("/").at(-1) ?? "",
    folder,
    files,
    metadata: JSON.parse(read("metadata.json")) as SessionMetadata,
    events: read("events.jsonl").trimEnd().split("\n").map((line) => JSON.parse(line) as CruEvent),
    markdown,
    child(agent) {
      const found = files.filter((f) => f.startsWith(`${agent}-`) && f.endsWith(".md"));
      if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} files of ${agent}: ${files.join(", ")}`);
      return { ...markdown(found[0]), name: found[0].replace(/\.md$/, "") };
    },
  };
}
