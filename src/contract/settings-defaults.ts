import type { Permission } from "./permission.ts";
import type { McpPreset, McpServer } from "./settings.ts";

/** Settings after all layers are merged: nothing is optional, `sandbox` is always the long form. */
export type Settings = {
  model: string;
  runner: "auto" | "model" | "claude" | "acp";
  claude: { command: string; args: string[] };
  acp: { command: string | string[] | null };
  permissions: { allow: Permission[]; deny: Permission[] };
  loop: { max_iterations: number; /** Null: what the model is known to have. */ window_tokens: number | null };
  queue: { max_concurrent: number; providers: Record<string, number> };
  limits: { children_total: number; budget_usd: number | null; budget_tokens: number | null; time: string | number };
  approvals: { timeout: string | number; on_timeout: "abort" | "approve" };
  grimoires: { default: string; by_type: Record<string, string> };
  scheduler: { max_beads: number };
  timeouts: { agent: string | number; script: string | number; workflow: string | number; idle: string | number };
  worktrees: { base: string; setup: string | string[]; copy: string[] };
  merge: { checks: string | string[]; require_review: boolean; target: string | null };
  mcp: { presets: McpPreset[]; servers: Record<string, McpServer> };
  notify: ({ type: "bell" } | { type: "command"; command: string[] })[];
  sandbox: { mode: "required" | "external" | "off"; hosts: string[] };
  notes: { embeddings_url: string | null; embeddings_model: string | null };
  engine: "file";
};

export const DEFAULT_SETTINGS: Settings = {
  model: "sonnet",
  runner: "auto",
  claude: { command: "claude", args: [] },
  acp: { command: null },
  permissions: { allow: [], deny: [] },
  loop: { max_iterations: 15, window_tokens: null },
  queue: { max_concurrent: 1, providers: { anthropic: 4 } },
  limits: { children_total: 20, budget_usd: 10, budget_tokens: null, time: "2h" },
  approvals: { timeout: "300s", on_timeout: "abort" },
  grimoires: { default: "implement-bead", by_type: { feature: "implement-bead", bug: "implement-bead", task: "implement-bead" } },
  scheduler: { max_beads: 3 },
  timeouts: { agent: "15m", script: "5m", workflow: "2h", idle: "10m" },
  worktrees: { base: "HEAD", setup: "auto", copy: [] },
  merge: { checks: "auto", require_review: true, target: null },
  mcp: { presets: [], servers: {} },
  notify: [{ type: "bell" }],
  sandbox: { mode: "required", hosts: [] },
  notes: { embeddings_url: null, embeddings_model: null },
  engine: "file",
};
