import { type AgentOutput, agentOutputSchema } from "../contract/agent-output.ts";

export type ExtractedOutput = { ok: true; output: AgentOutput } | { ok: false; fault: string };

/**
 * The last `json` block of an agent's final message, as the agent output. Blocks inside other blocks or quotations are text that
 * the agent talks about; an earlier block never stands in for a last one that is not valid.
 */
export function extractAgentOutput(text: string): ExtractedOutput {
  const last = jsonBlocks(text).at(-1);
  if (last === undefined) return { ok: false, fault: "the final message has no ```json block" };
  let value: unknown;
  try {
    value = JSON.parse(last);
  } catch (error) {
    return { ok: false, fault: `the last json block is not JSON: ${(error as Error).message}` };
  }
  return checkAgentOutput(value);
}

export function checkAgentOutput(value: unknown): ExtractedOutput {
  const parsed = agentOutputSchema.safeParse(value);
  if (parsed.success) return { ok: true, output: parsed.data };
  const [issue] = parsed.error.issues;
  return { ok: false, fault: `the last json block is no agent output: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}` };
}

/** Fences by the rules of markdown: closed by at least as many of the same character, unclosed until the end. */
function jsonBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: { fence: string; json: boolean; lines: string[] } | undefined;
  const close = (): void => {
    if (open?.json === true) blocks.push(open.lines.join("\n"));
    open = undefined;
  };
  for (const line of text.split(/\r?\n/)) {
    const [, fence = "", info = ""] = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== "") open = { fence, json: info.trim().toLowerCase() === "json", lines: [] };
    } else if (fence.startsWith(open.fence) && info.trim() === "") close();
    else open.lines.push(line);
  }
  close();
  return blocks;
}
