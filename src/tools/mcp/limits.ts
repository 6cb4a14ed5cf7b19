export type McpLimits = {
  /** From the start of a server until its list of tools is there. */
  startMs: number;
  /** One call, without the time in which a person is asked. */
  callMs: number;
  /** One message of a server; a longer one ends the connection. */
  messageBytes: number;
  /** Kept of one result. */
  outputBytes: number;
  toolsPerServer: number;
};

export const MCP_LIMITS: McpLimits = { startMs: 20_000, callMs: 120_000, messageBytes: 16 << 20, outputBytes: 256 << 10, toolsPerServer: 128 };
