import { z } from "zod";
import { permissionSchema } from "./agent.ts";
import { durationMs } from "./duration.ts";
import { parseHostEntry } from "./host-entry.ts";

const duration = z
  .union([z.string(), z.number()])
  .refine((v) => durationMs(v) !== undefined, { error: "expected a duration such as 30s, 5m or 1h30m" });
const count = z.int().min(1);
const host = z.string().superRefine((text, context) => {
  const entry = parseHostEntry(text);
  if (!entry.ok) context.addIssue({ code: "custom", message: entry.message });
});

export const mcpServerSchema = z.strictObject({
  command: z.string().min(1).optional(),
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  url: z.string().optional(),
  hosts: z.array(host).optional().describe("Hosts that this server may reach from its sandbox"),
  permissions: z.array(permissionSchema).optional(),
  default: z.boolean().optional().describe("false: only for tasks that name it"),
});

/** Servers that need no definition; `tools/mcp/presets.ts` says what they are. */
export const MCP_PRESETS = ["filesystem", "puppeteer", "github"] as const;
export type McpPreset = (typeof MCP_PRESETS)[number];

export const SANDBOX_MODES = ["required", "external", "off"] as const;
const sandboxMode = z.enum(SANDBOX_MODES);

/** `config.yaml`, project and user alike. Every field is optional there; `DEFAULT_SETTINGS` fills the rest. */
export const settingsSchema = z
  .strictObject({
    $schema: z.string().optional(),
    model: z.string().min(1).optional().describe("Default for agents that name none"),
    runner: z.enum(["auto", "model", "claude", "acp"]).optional(),
    claude: z.strictObject({ command: z.string().min(1).optional(), args: z.array(z.string()).optional() }).optional(),
    acp: z.strictObject({ command: z.union([z.string().min(1), z.array(z.string()).min(1), z.null()]).optional() }).optional(),
    permissions: z
      .strictObject({ allow: z.array(permissionSchema).optional(), deny: z.array(permissionSchema).optional() })
      .optional()
      .describe("allow: without asking; deny: removed from the ceiling"),
    loop: z.strictObject({ max_iterations: count.optional(), window_tokens: z.int().min(4000).nullish() }).optional(),
    queue: z.strictObject({ max_concurrent: count.optional(), providers: z.record(z.string(), count).optional() }).optional(),
    limits: z
      .strictObject({
        children_total: z.int().min(0).optional(),
        budget_usd: z.number().positive().nullish(),
        budget_tokens: z.int().positive().nullish(),
        time: duration.optional(),
      })
      .optional(),
    approvals: z.strictObject({ timeout: duration.optional(), on_timeout: z.enum(["abort", "approve"]).optional() }).optional(),
    grimoires: z.strictObject({ default: z.string().optional(), by_type: z.record(z.string(), z.string()).optional() }).optional(),
    scheduler: z.strictObject({ max_beads: count.optional() }).optional(),
    timeouts: z
      .strictObject({ agent: duration.optional(), script: duration.optional(), workflow: duration.optional(), idle: duration.optional() })
      .optional(),
    worktrees: z
      .strictObject({ base: z.string().optional(), setup: z.union([z.string(), z.array(z.string())]).optional(), copy: z.array(z.string()).optional() })
      .optional(),
    merge: z
      .strictObject({
        checks: z.union([z.string(), z.array(z.string())]).optional(),
        require_review: z.boolean().optional(),
        target: z.string().nullish(),
      })
      .optional(),
    mcp: z.strictObject({ presets: z.array(z.enum(MCP_PRESETS)).optional(), servers: z.record(z.string(), mcpServerSchema).optional() }).optional(),
    notify: z
      .array(z.union([z.strictObject({ type: z.literal("bell") }), z.strictObject({ type: z.literal("command"), command: z.array(z.string()).min(1) })]))
      .optional(),
    sandbox: z.union([sandboxMode, z.strictObject({ mode: sandboxMode.optional(), hosts: z.array(host).optional() })]).optional(),
    notes: z
      .strictObject({ embeddings_url: z.url({ protocol: /^https?$/ }).nullish(), embeddings_model: z.string().min(1).nullish() })
      .optional()
      .describe("An OpenAI-compatible embedding endpoint for the search over notes; without it, the built-in word vectors"),
    engine: z.enum(["file"]).optional(),
  })
  .describe("Crucible settings");

export type SettingsFile = z.infer<typeof settingsSchema>;
export type McpServer = z.infer<typeof mcpServerSchema>;
