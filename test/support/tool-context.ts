import type { AnyTool, ToolContext, ToolResult } from "../../src/contract/tool.ts";

export function toolContext(workspace: string, options: { signal?: AbortSignal } = {}): ToolContext {
  return { workspace, callId: "call-1", signal: options.signal ?? new AbortController().signal, emit() {} };
}

/** Calls a tool as the loop does: its input is parsed first. */
export async function call(tool: AnyTool, input: unknown, context: ToolContext): Promise<ToolResult> {
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) return { ok: false, output: parsed.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("; ") };
  return tool.run(parsed.data as never, context);
}
