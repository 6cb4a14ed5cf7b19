import { CruError } from "../contract/error.ts";
import { looksLikeModelId, MODEL_ALIASES, resolveModel } from "../contract/model.ts";
import { inertLine } from "../lib/inert.ts";
import { nearest } from "../lib/nearest.ts";

/** Where a model is reached. Only the process environment decides, never a file of a project. */
export type Provider = {
  kind: "anthropic" | "openai";
  /** The id that the server knows, without our prefix. */
  model: string;
  /** Ends in the version folder, without a slash. */
  baseUrl: string;
  apiKey: string | undefined;
  /** Sent as a bearer instead of a key (Anthropic gateways). */
  authToken: string | undefined;
};

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = /^(anthropic|openai|local)\//;

/** Refuses a lone word that is no alias; gives the name as the user wrote it otherwise. */
export function requireModel(name: string): string {
  const aliases = Object.keys(MODEL_ALIASES);
  if (aliases.includes(name) || looksLikeModelId(name)) return name;
  const near = nearest(name, aliases);
  throw new CruError("model_unknown", `unknown model '${inertLine(name, 64)}'`, {
    hint: `${near === undefined ? "" : `did you mean '${near}'? `}known: ${aliases.join(", ")}, or a full model id such as ${MODEL_ALIASES.sonnet}`,
  });
}

/** Chooses the provider by the model's id, and says exactly what to set when there is none. */
export function requireProvider(model: string, env: Environment): Provider {
  requireModel(model);
  const kind = providerKind(model);
  const found = kind === "anthropic" ? anthropic(modelId(model), env) : openai(modelId(model), env);
  if (found !== undefined) return found;
  throw kind === "anthropic" ? noAnthropic(model, env) : noOpenai(model);
}

/** Also the name under which `queue.providers` limits it. */
export function providerKind(model: string): Provider["kind"] {
  const id = resolveModel(model);
  const prefix = PREFIX.exec(id)?.[1];
  return prefix === "anthropic" || (prefix === undefined && id.startsWith("claude-")) ? "anthropic" : "openai";
}

/** Which providers the environment names. */
export function configuredProviders(env: Environment): Provider["kind"][] {
  return [...(anthropic("", env) === undefined ? [] : ["anthropic" as const]), ...(openai("", env) === undefined ? [] : ["openai" as const])];
}

/** The id that the server knows and that prices are listed under. */
export function modelId(model: string): string {
  return resolveModel(model).replace(PREFIX, "");
}

function anthropic(model: string, env: Environment): Provider | undefined {
  const authToken = set(env.ANTHROPIC_AUTH_TOKEN);
  // A token wins over a key, as in Anthropic's own command line; the SDK refuses both at once.
  const apiKey = authToken === undefined ? set(env.ANTHROPIC_API_KEY) : undefined;
  if (apiKey === undefined && authToken === undefined) return undefined;
  const root = address("ANTHROPIC_BASE_URL", set(env.ANTHROPIC_BASE_URL) ?? "https://api.anthropic.com");
  return { kind: "anthropic", model, baseUrl: root.endsWith("/v1") ? root : `${root}/v1`, apiKey, authToken };
}

function openai(model: string, env: Environment): Provider | undefined {
  const apiKey = set(env.OPENAI_API_KEY);
  const given = set(env.OPENAI_BASE_URL);
  if (given === undefined && apiKey === undefined) return undefined;
  const base = address("OPENAI_BASE_URL", given ?? "https://api.openai.com/v1");
  return { kind: "openai", model, baseUrl: new URL(base).pathname === "/" ? `${base}/v1` : base, apiKey, authToken: undefined };
}

function noAnthropic(model: string, env: Environment): CruError {
  const local = openai("", env) !== undefined;
  return new CruError("provider_missing", `no provider for model '${model}': ANTHROPIC_API_KEY is not set`, {
    hint: local
      ? "set ANTHROPIC_API_KEY, or name a model of your OPENAI_BASE_URL server: --model local/<its name>"
      : "set ANTHROPIC_API_KEY, or OPENAI_BASE_URL (such as http://localhost:11434/v1 for Ollama) with --model local/<its name>; `cru demo` needs neither",
  });
}

function noOpenai(model: string): CruError {
  return new CruError("provider_missing", `no provider for model '${model}': OPENAI_BASE_URL is not set`, {
    hint: "set OPENAI_BASE_URL to the server that has it (such as http://localhost:11434/v1 for Ollama) and OPENAI_API_KEY when it wants one; Anthropic models begin with claude- or anthropic/",
  });
}

function address(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // The value may hold a password, so it is not repeated.
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CruError("provider_missing", `${name} is not an http address`, { hint: `set ${name} to something like http://localhost:11434` });
  }
  return value.replace(/\/+$/, "");
}

function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
