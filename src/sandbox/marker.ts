import { readFileSync } from "node:fs";
import { z } from "zod";
import { permissionSchema } from "../contract/agent.ts";

/** Inside a sandbox: who the command belongs to. Read-only there, so that depth and rights hold through `cru` too. */
export const MARKER_PATH = "/run/crucible/agent.json";
/** The same where there is no sandbox; a hint, because a command can drop it. */
export const MARKER_VARIABLE = "CRUCIBLE_AGENT";

const markerSchema = z.object({
  v: z.literal(1),
  depth: z.int().min(0),
  trace_id: z.string(),
  session_id: z.string(),
  agent: z.string(),
  permissions: z.array(permissionSchema),
});

export type AgentMarker = z.infer<typeof markerSchema>;

/** Undefined when no agent started this process. What cannot be read counts as the deepest agent without rights. */
export function readMarker(env: Record<string, string | undefined>, path = MARKER_PATH): AgentMarker | undefined {
  const text = fileText(path) ?? env[MARKER_VARIABLE];
  if (text === undefined) return undefined;
  try {
    return markerSchema.parse(JSON.parse(text));
  } catch {
    return { v: 1, depth: 1, trace_id: "", session_id: "", agent: "unknown", permissions: [] };
  }
}

export function markerText(marker: AgentMarker): string {
  return `${JSON.stringify(marker)}\n`;
}

function fileText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "";
  }
}
