import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { openBudget } from "../../src/agent/budget.ts";
import { freshMemory, type LoopMemory, recallMemory } from "../../src/agent/memory.ts";
import { type LoopDeps, type LoopEnd, type LoopInput, runLoop } from "../../src/agent/run-loop.ts";
import type { CruEvent, NewEvent } from "../../src/contract/event.ts";
import type { AskInput, Asked } from "../../src/contract/runner.ts";
import type { AnyTool, Tool } from "../../src/contract/tool.ts";
import { createStreamModel } from "../../src/llm/stream-model.ts";
import { reserveCost } from "../../src/llm/price.ts";
import type { Script } from "../../src/scripted/script.ts";
import { startScriptedModel } from "../../src/scripted/start-scripted-model.ts";

export const SPAN = "0123456789abcdef";

export type LoopRun = { end: LoopEnd; events: CruEvent[]; memory: LoopMemory; requests: Awaited<ReturnType<typeof startScriptedModel>>["requests"]; asked: AskInput[] };

export type LoopOptions = {
  prompt?: string;
  tools?: AnyTool[];
  input?: Partial<LoopInput>;
  deps?: Partial<LoopDeps>;
  answers?: Asked[];
  /** Events of an earlier process. */
  before?: CruEvent[];
};

/** The real loop and the real client against a scripted model. */
export async function loop(script: Script, options: LoopOptions = {}): Promise<LoopRun> {
  const server = await startScriptedModel({ script });
  onTestFinished(() => server.close());
  const events: CruEvent[] = [...(options.before ?? [])];
  const asked: AskInput[] = [];
  const tools = options.tools ?? [];
  const prompt = options.prompt ?? "do it";
  const changes = (name: string): boolean => tools.find((t) => t.name === name)?.changes ?? false;
  const memory = options.before === undefined ? freshMemory(prompt) : recallMemory(prompt, options.before, SPAN, changes);
  const emit = (event: NewEvent): void => void events.push({ v: 1, ts: "", seq: events.length, trace_id: "", ...event } as CruEvent);
  const answers = [...(options.answers ?? [])];
  const end = await runLoop(
    {
      agent: { name: "primary", sessionId: "s", traceId: "t", spanId: SPAN, parentSpanId: null, parentChain: ["user", "primary"], depth: 0 },
      system: "You are the primary.", prompt, model: "claude-sonnet-5-5", workspace: "/", maxIterations: 15, windowTokens: 200_000, maxOutputTokens: 1000, primary: true, memory,
      ...options.input,
    },
    {
      stream: createStreamModel({ env: { ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: server.url }, retry: { firstDelayMs: 1 } }),
      onDelta: () => {}, emit, tools,
      authorize: async ({ input }) => ({ kind: "run", input }),
      startTask: async (task) => ({ ok: true, output: `${task.agent ?? ""} did ${task.id}` }),
      takeGuidance: () => [],
      ask: async (question) => {
        asked.push(question);
        return answers.shift() ?? { kind: "suspended", inboxId: "i1" };
      },
      budget: openBudget({ usd: 10, tokens: null }, { usd: 0, tokens: 0, estimated: false }, () => {}),
      estimate: (model, tokensIn, tokensOut) => ({ usd: reserveCost(model, tokensIn, tokensOut).usd, tokens: tokensIn + tokensOut }),
      newId: () => randomBytes(4).toString("hex"), signal: new AbortController().signal, redact: (value) => value, now: () => performance.now(),
      ...options.deps,
    },
  );
  return { end, events, memory, requests: server.requests, asked };
}

/** A tool that counts its runs and says what it is told to. */
export function countingTool(name: string, options: { changes?: boolean; reply?: (input: { n?: number | undefined }, run: number) => { ok: boolean; output: string } } = {}): AnyTool & { runs: unknown[] } {
  const runs: unknown[] = [];
  const tool: Tool<{ n?: number | undefined }> = {
    name, description: name, input: z.object({ n: z.number().optional() }), needs: [], changes: options.changes ?? false,
    run: async (input) => {
      runs.push(input);
      return options.reply?.(input, runs.length) ?? { ok: true, output: `${name} ${input.n ?? ""} #${runs.length}` };
    },
  };
  return Object.assign(tool as AnyTool, { runs });
}

export function answered(text: string, decision: "answer" | "approve" | "deny" = "answer"): Asked {
  return { kind: "answered", answer: { v: 1, id: "i1", action_hash: "", status: "answered", decision, text, set: {}, scope: "once", by: "person", answered_at: "" } };
}
