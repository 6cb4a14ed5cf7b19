import { readFileSync } from "node:fs";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";

/** What one agent keeps between its processes, in its private folder. */
export type AgentMemory = {
  /** Programs that count over a whole session: what is in here was told already. */
  counted: ModelTotals;
  /** How many answers to an equal question were used up. */
  answered: Record<string, number>;
  /** What the program calls its conversation, where it chooses the name itself. */
  session: string | null;
  save(): void;
};

export type ModelTotals = Record<string, { input: number; output: number; cache_read: number; cache_write: number; cost_usd: number }>;

/** A fresh start forgets what was; the file is only written by `save`. */
export function openAgentMemory(folder: string, resume: boolean): AgentMemory {
  const file = join(folder, "memory.json");
  const memory: AgentMemory = {
    ...(resume ? readMemory(file) : { counted: {}, answered: {}, session: null }),
    save: () => atomicWrite(file, `${JSON.stringify({ counted: memory.counted, answered: memory.answered, session: memory.session })}\n`, { mode: 0o600, folderMode: 0o700, sync: false }),
  };
  return memory;
}

function readMemory(file: string): Omit<AgentMemory, "save"> {
  try {
    const read = JSON.parse(readFileSync(file, "utf8")) as Partial<AgentMemory>;
    return { counted: read.counted ?? {}, answered: read.answered ?? {}, session: read.session ?? null };
  } catch {
    return { counted: {}, answered: {}, session: null };
  }
}
