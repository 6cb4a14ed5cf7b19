import type { ModelFailure } from "../contract/model-call.ts";
import { inertLine } from "../lib/inert.ts";
import type { Provider } from "./provider.ts";
import { retryAfterMs } from "./retry-after.ts";

export type Failure = { kind: ModelFailure["kind"]; message: string; hint: string; retryable: boolean; retryAfterMs?: number };
/** `name` is the error's class, empty for what is no Error; `status` undefined when no answer came. */
type Facts = { name: string; status: number | undefined; type: string; text: string; headers: Record<string, string> };

const TOO_LONG = /prompt is too long|context[ _]?(?:length|window|limit|size)|maximum context|too many (?:input )?tokens|input length and `max_tokens`/i;
const NO_MONEY = /credit balance|insufficient_quota|billing|payment/i;
const TRANSIENT: readonly ModelFailure["kind"][] = ["rate_limit", "overloaded", "network", "timeout", "cut", "server"];
const BROKEN_STREAM = ["AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError", "AI_NoOutputGeneratedError"];
const API_ERROR = "AI_APICallError";
const LONGEST = 300;

/** What went wrong, what to do, and whether another try can help. `secrets` never appear in the message. */
export function classifyFailure(error: unknown, provider: Provider, secrets: readonly string[], now: number): Failure {
  const facts = factsOf(error);
  const kind = kindOf(facts);
  const wait = retryAfterMs(facts.headers, now);
  const said = [facts.status !== undefined && facts.status >= 300 ? String(facts.status) : "", facts.type, facts.text].filter((t) => t !== "").join(" ");
  return {
    kind,
    message: inertLine(redact(`${said === "" ? "the model server failed" : said}${kind === "network" && URL.canParse(provider.baseUrl) ? `: ${new URL(provider.baseUrl).origin}` : ""}`, secrets), LONGEST),
    hint: hintOf(kind, facts, provider),
    retryable: TRANSIENT.includes(kind) && facts.headers["x-should-retry"] !== "false" && !isOurFault(facts),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function kindOf({ name, status, type, text }: Facts): ModelFailure["kind"] {
  if (name === "NotAStream" || name === "AI_MissingToolResultsError") return "bad_request";
  const words = `${type} ${text}`;
  if (status === 413 || type === "request_too_large" || ((status === undefined || status === 400 || status === 422 || status === 500) && TOO_LONG.test(words))) return "context_too_long";
  if (status === 401 || status === 403 || status === 402 || /^(authentication|permission|billing)_error$/.test(type)) return "auth";
  if ((status === 400 || status === 429) && NO_MONEY.test(words)) return "auth";
  if (status === 429 || /rate_limit/.test(type)) return "rate_limit";
  if (status === 529 || status === 503 || type === "overloaded_error") return "overloaded";
  if (status === 408 || status === 504 || type === "timeout_error") return "timeout";
  if (status !== undefined && status >= 500) return "server";
  if (status !== undefined && status >= 300) return "bad_request";
  if (/^(invalid_request|not_found)_error$/.test(type)) return "bad_request";
  if (name === API_ERROR) return status === undefined ? "network" : "cut";
  return BROKEN_STREAM.includes(name) ? "cut" : "server";
}

/** An error that is neither the server's nor the network's; trying again would only repeat it. */
function isOurFault({ name }: Facts): boolean {
  return name !== "" && name !== API_ERROR && !BROKEN_STREAM.includes(name);
}

function hintOf(kind: ModelFailure["kind"], { name, status, type, text }: Facts, provider: Provider): string {
  const anthropic = provider.kind === "anthropic";
  const key = anthropic ? (provider.authToken === undefined ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN") : "OPENAI_API_KEY";
  const base = anthropic ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
  switch (kind) {
    case "auth":
      if (status === 402 || NO_MONEY.test(`${type} ${text}`)) return "the account has no credit left: add some, or use another key";
      return status === 403 ? `this key may not use '${provider.model}': use another key or model` : `check ${key}: the server did not accept it`;
    case "bad_request":
      if (status === 404) return `the server does not know the model '${provider.model}', or ${base} is wrong`;
      return name !== "NotAStream" && (status === 400 || status === 422 || status === undefined) ? "the server refused the request; the message says why" : `check ${base}: this address is not a model server`;
    case "context_too_long":
      return "the conversation is longer than the model's window: compact it or start afresh";
    case "rate_limit":
      return "wait until the limit resets, or run fewer agents at once (queue.providers)";
    case "network":
      return `is the server at ${base} running and reachable?`;
    default:
      return "try again later; the fault is on the server's side";
  }
}

function factsOf(error: unknown): Facts {
  if (typeof error === "string") return { name: "", status: undefined, type: "", text: error, headers: {} };
  const name = error instanceof Error ? error.name : "";
  const fields = record(error);
  const status = typeof fields.statusCode === "number" ? fields.statusCode : undefined;
  const body = errorBody(fields.data) ?? errorBody(parse(fields.responseBody)) ?? {};
  const lost = name === API_ERROR && (status === undefined || status === 200);
  return {
    name,
    status,
    // An error event after the first event arrives as the bare object that the server sent.
    type: string(body.type) ?? (name === "" ? string(fields.type) : undefined) ?? string(body.code) ?? "",
    text: lost ? networkText(error) : (string(body.message) ?? string(fields.message) ?? ""),
    headers: Object.fromEntries(Object.entries(record(fields.responseHeaders)).map(([k, v]) => [k.toLowerCase(), String(v)])),
  };
}

/** `{error: {type, message}}`, or `{error: "text"}` as some local servers send it. */
function errorBody(value: unknown): Record<string, unknown> | undefined {
  const { error } = record(value);
  if (typeof error === "string") return { message: error };
  return typeof error === "object" && error !== null ? record(error) : undefined;
}

const NETWORK: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name could not be looked up",
  ECONNRESET: "the connection was cut",
  ETIMEDOUT: "no answer in time",
  EHOSTUNREACH: "no route to it",
  ENETUNREACH: "no network",
};

function networkText(error: unknown): string {
  let code = "";
  for (let at: unknown = error, depth = 0; depth < 5 && at !== undefined && at !== null; depth++) {
    code = string(record(at).code) ?? code;
    at = record(at).cause;
  }
  return `the connection to the model server failed${code === "" ? "" : ` (${code in NETWORK ? `${NETWORK[code]}, ` : ""}${code})`}`;
}

function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "[redacted]");
  return clean.replace(/\b(?:sk|key|pk)-[A-Za-z0-9_-]{12,}/g, "[redacted]").replace(/\bBearer\s+\S{8,}/gi, "Bearer [redacted]");
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function parse(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
