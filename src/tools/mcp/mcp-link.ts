import type { Client, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { Elicited } from "./elicit.ts";

/** What a server sends is read tolerantly: one odd tool or part must not cost the others. */
const listingSchema = z.looseObject({ tools: z.array(z.unknown()).default([]), nextCursor: z.string().optional() });
const resultSchema = z.looseObject({ content: z.unknown().optional(), structuredContent: z.unknown().optional(), isError: z.boolean().optional() });
const MOST_PAGES = 50;
/** We keep the time ourselves. */
const NEVER_MS = 2 ** 31 - 1;

export type RawResult = z.infer<typeof resultSchema>;
export type ElicitHandler = (request: { message: string; schema: unknown }) => Promise<Elicited>;
export type Sdk = typeof import("@modelcontextprotocol/client");

/** One living connection. */
export type McpLink = {
  isOver(): boolean;
  list(options: { most: number; signal: AbortSignal }): Promise<{ tools: unknown[]; isCut: boolean }>;
  call(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<RawResult>;
  close(): Promise<void>;
};

/** Throws when the server does not answer as one; the transport is closed then. */
export async function openLink(transport: Transport, options: { sdk: Sdk; elicit: ElicitHandler; signal: AbortSignal }): Promise<McpLink> {
  const { sdk, elicit } = options;
  const client: Client = new sdk.Client({ name: "crucible", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  let over = false;
  Object.assign(client, { onclose: () => void (over = true), onerror: () => {} });
  client.setRequestHandler("elicitation/create", async ({ params }) => ("requestedSchema" in params ? elicit({ message: params.message, schema: params.requestedSchema }) : { action: "decline" }));
  try {
    await unlessAborted(client.connect(transport, { signal: options.signal, timeout: NEVER_MS }), options.signal);
  } catch (error) {
    await transport.close();
    throw error;
  }
  return {
    isOver: () => over,
    async list({ most, signal }) {
      const tools: unknown[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES && tools.length <= most; page++) {
        const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } };
        const listing = await client.request(request, listingSchema, { signal, timeout: NEVER_MS });
        tools.push(...listing.tools);
        cursor = listing.nextCursor;
        if (cursor === undefined) break;
      }
      return { tools: tools.slice(0, most), isCut: tools.length > most || cursor !== undefined };
    },
    call: (name, input, signal) => client.request({ method: "tools/call", params: { name, arguments: input } }, resultSchema, { signal, timeout: NEVER_MS }),
    close: () => transport.close(),
  };
}

/** The handshake has steps that know of no signal; over HTTP each of them may hang. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
