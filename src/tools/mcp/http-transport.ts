import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

type Sdk = { StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport };

/** Streamable HTTP with bounded answers; redirects stay within the origin, and nothing of the user's goes along. */
export function httpTransport(url: URL, sdk: Sdk, options: { messageBytes: number }): StreamableHTTPClientTransport {
  return new sdk.StreamableHTTPClientTransport(url, {
    fetch: async (input, init) => bounded(await fetch(input, init), options.messageBytes),
    reconnectionOptions: { initialReconnectionDelay: 1000, maxReconnectionDelay: 10_000, reconnectionDelayGrowFactor: 2, maxRetries: 2 },
  });
}

/** The address when it may be used, else undefined. */
export function httpAddress(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "http:" || url.protocol === "https:" ? url : undefined;
}

function bounded(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`the answer has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const copy = new Response(response.body.pipeThrough(counter), { status: response.status, statusText: response.statusText, headers: response.headers });
  // A constructed response has no address; the client compares it to find redirects.
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}
