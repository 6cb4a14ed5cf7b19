/** What an agent may do. The order is the order in which people are shown them. */
export const PERMISSIONS = [
  "FilesystemRead",
  "FilesystemWrite",
  "SemanticSearch",
  "DatabaseRead",
  "DatabaseWrite",
  "NetworkAccess",
  "Shell",
] as const;

export type Permission = (typeof PERMISSIONS)[number];

/** Every agent has these and nobody can take them away. */
export const BASELINE = ["FilesystemRead", "SemanticSearch"] as const satisfies readonly Permission[];

/** Levels of agents: primary 0, subagent 1. A child that would be at this depth is refused. */
export const MAX_AGENT_DEPTH = 2;

export function isPermission(word: string): word is Permission {
  return (PERMISSIONS as readonly string[]).includes(word);
}
