/** One call as the server saw it; kept for assertions. */
export type ScriptedRequest = {
  index: number;
  wire: "anthropic" | "openai";
  path: string;
  headers: Record<string, string>;
  /** From `x-api-key` or the bearer. */
  key: string | undefined;
  body: Record<string, unknown>;
  model: string;
  stream: boolean;
  system: string;
  /** Text of each user message, tool results included, in order. */
  users: string[];
  /** Assistant messages so far. */
  turns: number;
  tools: string[];
  /** Which rule answered, undefined when none matched. */
  rule: string | undefined;
  /** How it ended: `gone` when the client closed first. */
  outcome: "open" | "sent" | "fault" | "unmatched" | "gone";
};

export function readRequest(index: number, path: string, headers: NodeJS.Dict<string | string[]>, body: Record<string, unknown>): ScriptedRequest {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  const messages = list(body.messages);
  const role = (name: string) => messages.filter((m) => m.role === name);
  const openai = path.startsWith("/v1/chat/");
  const results = openai ? messages.filter((m) => m.role === "user" || m.role === "tool") : role("user");
  return {
    index,
    wire: openai ? "openai" : "anthropic",
    path,
    headers: flat,
    key: flat["x-api-key"] ?? flat.authorization?.replace(/^Bearer /i, ""),
    body,
    model: typeof body.model === "string" ? body.model : "",
    stream: body.stream === true,
    system: openai ? [...role("system"), ...role("developer")].map((m) => textOf(m.content)).join("\n") : textOf(body.system),
    users: results.map((m) => textOf(m.content)),
    turns: role("assistant").length,
    tools: list(body.tools).map((t) => String(openai ? record(t.function).name : t.name)),
    rule: undefined,
    outcome: "open",
  };
}

/** All text in a message's content: a string, text blocks, and the text of tool results. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((block) => (typeof block.text === "string" ? block.text : textOf(block.content)))
    .filter((text) => text !== "")
    .join("\n");
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
