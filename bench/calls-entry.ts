import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBudget } from "../src/agent/budget.ts";
import { freshMemory } from "../src/agent/memory.ts";
import { runLoop } from "../src/agent/run-loop.ts";
import type { AnyTool } from "../src/contract/tool.ts";
import { createStreamModel } from "../src/llm/stream-model.ts";
import type { ScriptedReply } from "../src/scripted/script.ts";
import { startScriptedModel } from "../src/scripted/start-scripted-model.ts";
import { editFileTool } from "../src/tools/edit-file.ts";
import { readFileTool } from "../src/tools/read-file.ts";
import { searchFilesTool } from "../src/tools/search-files.ts";
import { writeFileTool } from "../src/tools/write-file.ts";

const call = (name: string, input: unknown): { name: string; input: unknown } => ({ name, input });
const FILES: Record<string, string> = { "a.js": "export const limit = 10;\n", "b.js": 'import { limit } from "./a.js";\nconsole.log(limit);\n', "README.md": "# demo\n" };

/** What a capable model says, call by call, until its answer; a plain loop of tools makes exactly these calls. */
const TASKS: Record<string, ScriptedReply[]> = {
  "answer a question": [{ text: "It exports a limit." }],
  "look something up": [{ tools: [call("read_file", { path: "a.js" })] }, { text: "limit is 10." }],
  "fix a bug": [
    { tools: [call("search_files", { pattern: "limit" })] }, { tools: [call("read_file", { path: "a.js" })] },
    { tools: [call("edit_file", { path: "a.js", old: "limit = 10", new: "limit = 12" })] }, { tools: [call("read_file", { path: "a.js" })] }, { text: "Fixed." },
  ],
  "rename over two files": [
    { tools: [call("search_files", { pattern: "limit" })] },
    { tools: [call("edit_file", { path: "a.js", old: "limit", new: "most" }), call("edit_file", { path: "b.js", old: "{ limit }", new: "{ most }" }), call("edit_file", { path: "b.js", old: "log(limit)", new: "log(most)" })] },
    { tools: [call("search_files", { pattern: "limit" })] }, { text: "Renamed." },
  ],
  "write a page, and say so": [{ tools: [call("read_file", { path: "b.js" })] }, { tools: [call("write_file", { path: "docs.md", content: "# docs\n" })] }, { text: "Written.", tools: [call("reflect", { goal_achieved: true, progress: "all", content: "written" })] }],
};
const LOOK_BACK: ScriptedReply = { tools: [call("reflect", { goal_achieved: true, progress: "all", content: "checked" })] };

/** Model calls of each task: in a plain loop, and in ours. */
export async function countCalls(): Promise<{ task: string; plain: number; ours: number }[]> {
  const rows: { task: string; plain: number; ours: number }[] = [];
  for (const [task, replies] of Object.entries(TASKS)) {
    const server = await startScriptedModel({ script: [...replies, LOOK_BACK] });
    const workspace = mkdtempSync(join(tmpdir(), "cru-calls-"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(workspace, name), text);
    try {
      const end = await run(task, workspace, server.url);
      if (end !== "complete") throw new Error(`${task} ended ${end}`);
      rows.push({ task, plain: replies.length, ours: server.requests.length });
    } finally {
      await server.close();
      rmSync(workspace, { recursive: true, force: true });
    }
  }
  return rows;
}

async function run(prompt: string, workspace: string, url: string): Promise<string> {
  const tools: AnyTool[] = [readFileTool(), searchFilesTool(), editFileTool(), writeFileTool()];
  const end = await runLoop(
    {
      agent: { name: "primary", sessionId: "s", traceId: "t", spanId: "p", parentSpanId: null, parentChain: ["user", "primary"], depth: 0 },
      system: "", prompt, model: "claude-sonnet-5-5", workspace, maxIterations: 15, windowTokens: 200_000, maxOutputTokens: 1000, primary: true, memory: freshMemory(prompt),
    },
    {
      stream: createStreamModel({ env: { ANTHROPIC_API_KEY: "scripted", ANTHROPIC_BASE_URL: url } }), onDelta: () => {}, emit: () => {}, tools,
      authorize: async ({ input }) => ({ kind: "run", input }), startTask: async () => ({ ok: false, output: "" }), takeGuidance: () => [],
      ask: async () => ({ kind: "suspended", inboxId: "" }), budget: openBudget({ usd: null, tokens: null }, { usd: 0, tokens: 0, estimated: false }, () => {}),
      estimate: () => ({ usd: 0, tokens: 0 }), newId: () => "r", signal: new AbortController().signal, redact: (value) => value, now: () => performance.now(),
    },
  );
  return end.status;
}
