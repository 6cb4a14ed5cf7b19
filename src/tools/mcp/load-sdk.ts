import type { Sdk } from "./mcp-link.ts";

/** The protocol's client, loaded only where a server is configured. */
export function loadSdk(): Promise<Sdk> {
  return import("@modelcontextprotocol/client");
}
