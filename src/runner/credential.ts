import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../config/paths.ts";

/** How the agent's calls log in. The values stay on this side; inside stands a placeholder of the same kind. */
export type Credential = { variable: string; headers(): Record<string, string> };

export const PLACEHOLDER = "sk-ant-placeholder-the-key-stays-outside";

/** The user's login at Anthropic as the Claude CLI itself would find it: a key, a token, or what `claude /login` left. Undefined when there is none to be read. */
export function findCredential(env: Env, home: string): Credential | undefined {
  const key = text(env.ANTHROPIC_API_KEY);
  if (key !== undefined) return { variable: "ANTHROPIC_API_KEY", headers: () => ({ "x-api-key": key }) };
  const token = text(env.ANTHROPIC_AUTH_TOKEN);
  if (token !== undefined) return { variable: "ANTHROPIC_AUTH_TOKEN", headers: () => bearer(token) };
  const oauth = text(env.CLAUDE_CODE_OAUTH_TOKEN);
  if (oauth !== undefined) return { variable: "CLAUDE_CODE_OAUTH_TOKEN", headers: () => bearer(oauth) };
  const file = join(text(env.CLAUDE_CONFIG_DIR) ?? join(home, ".claude"), ".credentials.json");
  if (accessToken(file) === undefined) return undefined;
  // Read at each call: the user's own claude renews it, and copies of it would invalidate each other.
  return { variable: "CLAUDE_CODE_OAUTH_TOKEN", headers: () => bearer(accessToken(file) ?? "") };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function accessToken(file: string): string | undefined {
  try {
    const record = JSON.parse(readFileSync(file, "utf8")) as { claudeAiOauth?: { accessToken?: unknown } };
    const token = record.claudeAiOauth?.accessToken;
    return typeof token === "string" ? text(token) : undefined;
  } catch {
    return undefined;
  }
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
