import type { Env } from "../../config/paths.ts";
import { configuredProviders, requireProvider } from "../../llm/provider.ts";
import { type ModelFailureNote, type ModelProxy, startModelProxy } from "../../sandbox/model-proxy.ts";
import type { Relay } from "../../sandbox/spec.ts";
import { openModelProxy } from "../agent-sandbox.ts";
import { findCredential, PLACEHOLDER } from "../credential.ts";

/** The ways from inside a sandbox to the models that the user has a login for: ports there, and the variables that name them. The logins are added outside. */
export type ModelWays = { relays: Relay[]; env: Record<string, string>; close(): Promise<void> };

export type ModelWaysInput = {
  env: Env;
  home: string;
  /** The agent is known to speak with Anthropic only: it gets no other way. */
  onlyAnthropic: boolean;
  /** The agent's own session, once it is known. */
  session(): string | undefined;
  onFailure(note: ModelFailureNote): void;
};

/** Inside the sandbox, where nothing else listens. */
const ANTHROPIC_PORT = 47_100;
const OPENAI_PORT = 47_101;

export async function openModelWays(input: ModelWaysInput): Promise<ModelWays> {
  const proxies: ModelProxy[] = [];
  const ways: ModelWays = { relays: [], env: {}, close: async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))) };
  const add = (proxy: ModelProxy, port: number, env: Record<string, string>): void => {
    proxies.push(proxy);
    ways.relays.push({ port, socket: proxy.socket });
    Object.assign(ways.env, env);
  };
  try {
    const credential = findCredential(input.env, input.home);
    if (credential !== undefined) {
      add(await openModelProxy(input.env, credential, input.session, input.onFailure), ANTHROPIC_PORT, { ANTHROPIC_BASE_URL: `http://127.0.0.1:${ANTHROPIC_PORT}`, [credential.variable]: PLACEHOLDER });
    }
    if (!input.onlyAnthropic && configuredProviders(input.env).includes("openai")) await addOpenai(input, add);
  } catch (error) {
    await ways.close();
    throw error;
  }
  return ways;
}

async function addOpenai(input: ModelWaysInput, add: (proxy: ModelProxy, port: number, env: Record<string, string>) => void): Promise<void> {
  const { baseUrl, apiKey } = requireProvider("openai/any", input.env);
  const { origin, pathname } = new URL(baseUrl);
  const proxy = await startModelProxy({
    endpoint: origin,
    credentials: () => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    session: input.session,
    forwarded: [`POST ${pathname}/chat/completions`, `POST ${pathname}/responses`, `GET ${pathname}/models`],
    onFailure: (note) => input.onFailure({ ...note, hint: "check OPENAI_API_KEY" }),
  });
  add(proxy, OPENAI_PORT, { OPENAI_BASE_URL: `http://127.0.0.1:${OPENAI_PORT}${pathname}`, OPENAI_API_KEY: PLACEHOLDER });
}
