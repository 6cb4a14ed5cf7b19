import type { Env } from "../../config/paths.ts";
import { type Check, type Finding, finding } from "./check.ts";

/** Only whether a key is there. No part of it, and no part of an address that may hold one, is ever printed. */
export const providersCheck: Check = {
  id: "providers",
  look({ env }) {
    const found = [...anthropic(env), ...openai(env)];
    if (found.some((f) => f.status === "ok")) return found;
    const fix = "export ANTHROPIC_API_KEY=…, or OPENAI_BASE_URL=http://127.0.0.1:11434/v1 for a local server; the claude program uses its own login";
    return [...found, finding("providers", "warn", "no model provider is set up for agents inside cru", fix)];
  },
};

function anthropic(env: Env): Finding[] {
  const base = env.ANTHROPIC_BASE_URL ?? "";
  const found: Finding[] = [];
  if (isSet(env.ANTHROPIC_API_KEY)) found.push(finding("providers.anthropic", "ok", `ANTHROPIC_API_KEY is set${base === "" ? "" : `, for ${origin(base)}`}`));
  if (base !== "" && origin(base) === INVALID) found.push(finding("providers.anthropic.url", "warn", "ANTHROPIC_BASE_URL is not an http address", "set it to the root of the server, such as https://host"));
  else if (/\/v1\/?$/.test(base)) found.push(finding("providers.anthropic.url", "warn", "ANTHROPIC_BASE_URL ends in /v1", "leave /v1 away: it is added"));
  return found;
}

function openai(env: Env): Finding[] {
  const base = env.OPENAI_BASE_URL ?? "";
  if (base === "") {
    if (!isSet(env.OPENAI_API_KEY)) return [];
    return [finding("providers.openai", "info", "OPENAI_API_KEY is set, but no OPENAI_BASE_URL says where to use it", "set OPENAI_BASE_URL")];
  }
  if (origin(base) === INVALID) return [finding("providers.openai", "warn", "OPENAI_BASE_URL is not an http address", "set it to an address such as http://127.0.0.1:11434/v1")];
  return [finding("providers.openai", "ok", `an OpenAI-compatible server is set, ${origin(base)}, ${isSet(env.OPENAI_API_KEY) ? "with a key" : "without a key"}`)];
}

const INVALID = "(not an address)";

/** Scheme, host and port: user names, passwords, paths and queries stay out. */
function origin(address: string): string {
  try {
    const url = new URL(address);
    return /^https?:$/.test(url.protocol) ? url.origin : INVALID;
  } catch {
    return INVALID;
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== "";
}
