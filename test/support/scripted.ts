import { afterEach } from "vitest";
import type { ModelCall, ModelDelta, ModelFailure, ModelReply } from "../../src/contract/model-call.ts";
import { type Clock, systemClock } from "../../src/llm/clock.ts";
import { createStreamModel, type StreamModelDeps } from "../../src/llm/stream-model.ts";
import type { Script } from "../../src/scripted/script.ts";
import { type ScriptedModel, startScriptedModel } from "../../src/scripted/start-scripted-model.ts";

const running: ScriptedModel[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** A scripted model that is closed after the test. */
export async function scripted(script: Script): Promise<ScriptedModel> {
  const server = await startScriptedModel({ script });
  running.push(server);
  return server;
}

export const READ_TOOL = {
  name: "read_file",
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
};

/** Waits that never wait, and chance that is no chance. */
export function instantClock(waits: number[] = []): Clock {
  return { ...systemClock, now: () => Date.parse("2026-11-01T00:00:00Z"), random: () => 1, sleep: async (ms) => void waits.push(ms) };
}

export type Talk = { reply: ModelReply | ModelFailure; deltas: ModelDelta[]; text: string; server: ScriptedModel; waits: number[] };

export type Wire = "anthropic" | "openai";

export function environment(server: { url: string }, key = "sk-test-0123456789abcdef"): Record<string, string> {
  return { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: key, OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: key };
}

/** One call against one script, everything observed. `text` is what a listener that obeys `restart` ends up with. */
export async function talk(script: Script, options: { wire?: Wire; call?: Partial<ModelCall>; deps?: Partial<StreamModelDeps>; onDelta?: (d: ModelDelta) => void } = {}): Promise<Talk> {
  const server = await scripted(script);
  const waits: number[] = [];
  const deltas: ModelDelta[] = [];
  let text = "";
  const stream = createStreamModel({ env: environment(server), clock: instantClock(waits), idleMs: 20_000, ...options.deps });
  const reply = await stream(
    {
      model: options.wire === "openai" ? "local/test-model" : "sonnet",
      system: "You are a test agent.",
      messages: [{ role: "user", content: "Please do the thing." }],
      tools: [READ_TOOL],
      toolChoice: "auto",
      maxOutputTokens: 4096,
      signal: new AbortController().signal,
      ...options.call,
    },
    (delta) => {
      deltas.push(delta);
      if (delta.type === "text") text += delta.text;
      if (delta.type === "restart") text = "";
      options.onDelta?.(delta);
    },
  );
  return { reply, deltas, text, server, waits };
}
