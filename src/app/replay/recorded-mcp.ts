import { z } from "zod";
import type { RecordedRequest } from "../../agent/memory.ts";
import { REFLECT, UPDATE_PLAN } from "../../agent/loop-tools.ts";
import type { ToolSpec } from "../../contract/model-call.ts";
import { TOOL_NAMES } from "../../contract/tool-names.ts";
import type { AnyTool } from "../../contract/tool.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import type { RecordedTurn } from "./turns.ts";

/** No server is started for a replay: its tools are those that the recording offered to the model. */
export function recordedMcp(turn: RecordedTurn): McpTools {
  const own = new Set<string>([...TOOL_NAMES, UPDATE_PLAN, REFLECT]);
  const offered = turn.events.flatMap((e) => (e.type === "model.request" ? ((e.request as RecordedRequest).tools as ToolSpec[] | undefined) ?? [] : []));
  const foreign = new Map(offered.filter((spec) => !own.has(spec.name)).map((spec) => [spec.name, stub(spec)]));
  const tools = [...foreign.values()];
  return { tools, toolsFor: () => tools, warnings: [], close: async () => {} };
}

function stub({ name, description, inputSchema }: ToolSpec): AnyTool {
  return { name, description, input: z.unknown(), inputJson: inputSchema, needs: [], changes: true, run: async () => ({ ok: false, output: "" }) };
}
