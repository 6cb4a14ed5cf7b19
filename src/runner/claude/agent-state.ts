import { createHash } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentIdentity } from "../../contract/runner.ts";
import { type AgentMemory, openAgentMemory } from "../agent-memory.ts";

/** What one agent keeps between its processes, in a private folder: the CLI's own files, what was already counted, which answers were used. */
export type AgentState = {
  folder: string;
  configFolder: string;
  /** Named by us from what the session has recorded, so that it is known after any kill. */
  session: { id: string; resumed: boolean };
  memory: AgentMemory;
};

export function openAgentState(folder: string, agent: AgentIdentity, resume: boolean): AgentState {
  const configFolder = join(folder, "claude");
  mkdirSync(configFolder, { recursive: true, mode: 0o700 });
  return { folder, configFolder, session: chooseSession(configFolder, agent, resume), memory: openAgentMemory(folder, resume) };
}

/** An id can be used for one conversation only: a fresh start takes the next one, a resume the latest that exists. */
function chooseSession(configFolder: string, agent: AgentIdentity, resume: boolean): AgentState["session"] {
  const taken = conversations(configFolder);
  let next = 0;
  while (taken.has(sessionUuid(agent, next))) next++;
  return resume && next > 0 ? { id: sessionUuid(agent, next - 1), resumed: true } : { id: sessionUuid(agent, next), resumed: false };
}

function conversations(configFolder: string): Set<string> {
  try {
    const files = readdirSync(join(configFolder, "projects"), { recursive: true, encoding: "utf8" });
    return new Set(files.flatMap((path) => /([0-9a-f-]{36})\.jsonl$/.exec(path)?.[1] ?? []));
  } catch {
    return new Set();
  }
}

function sessionUuid(agent: AgentIdentity, attempt: number): string {
  const hex = createHash("sha256").update(`${agent.sessionId}\0${agent.spanId}\0${attempt}`).digest("hex");
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
