import type { TextStreamPart, ToolSet } from "ai";
import type { ModelCall } from "../contract/model-call.ts";
import type { Provider } from "./provider.ts";
import { toPrompt } from "./to-prompt.ts";

export type StreamPart = TextStreamPart<ToolSet>;

/** The server answered, but not with a stream; most often a base URL that leads to a web page. */
export class NotAStream extends Error {
  override readonly name = "NotAStream";
}

/** One request, no retries, nothing executed. The SDK is loaded here, at the first call. */
export async function openStream(provider: Provider, call: ModelCall, signal: AbortSignal): Promise<AsyncIterable<StreamPart>> {
  const { streamText, tool, jsonSchema } = await import("ai");
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  const tools: ToolSet = Object.fromEntries(call.tools.map((t) => [t.name, tool({ description: t.description, inputSchema: jsonSchema(t.inputSchema) })]));
  const { fullStream } = streamText({
    model: await languageModel(provider),
    ...toPrompt(call, provider.kind),
    ...(call.tools.length === 0 ? {} : { tools, toolChoice: toolChoice(call) }),
    maxOutputTokens: call.maxOutputTokens,
    maxRetries: 0,
    abortSignal: signal,
    includeRawChunks: true,
    // Eager tool streaming is a field that strict gateways refuse.
    providerOptions: { anthropic: { toolStreaming: false } },
    onError() {},
  });
  return fullStream;
}

async function languageModel(provider: Provider) {
  const common = { baseURL: provider.baseUrl, fetch: noRedirect };
  if (provider.kind === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ ...common, ...(provider.authToken === undefined ? { apiKey: provider.apiKey ?? "" } : { authToken: provider.authToken }) })(provider.model);
  }
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ ...common, name: "openai", includeUsage: true, ...(provider.apiKey === undefined ? {} : { apiKey: provider.apiKey }) })(provider.model);
}

/** A redirect would carry the key to another host. */
async function noRedirect(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (response.ok && (response.headers.get("content-type") ?? "").includes("text/html")) {
    await response.body?.cancel();
    throw new NotAStream("the server answered with a web page");
  }
  return response;
}

function toolChoice(call: ModelCall) {
  const choice = call.toolChoice ?? "auto";
  return typeof choice === "string" ? choice : { type: "tool" as const, toolName: choice.tool };
}
