import type { Env } from "../../config/paths.ts";
import { QUIET } from "../claude/launch.ts";

const MAX_RETRIES = 4;

export type LaunchInput = {
  sandboxed: boolean;
  /** A private home that outlives the process. */
  home: string;
  /** What names the ways to the models inside the sandbox, with placeholders for the logins. */
  model: Record<string, string>;
  host: Env;
  maxRetries: number | undefined;
  /** The Claude CLI that an adapter shall use. */
  claude: string | undefined;
};

/** The agent's variables beside PATH. In a sandbox placeholders stand for the logins; without one the user's own go along. */
export function agentEnvironment(input: LaunchInput): Record<string, string> {
  const own = { ...QUIET, CLAUDE_CODE_MAX_RETRIES: String(input.maxRetries ?? MAX_RETRIES), ...(input.claude === undefined ? {} : { CLAUDE_CODE_EXECUTABLE: input.claude }) };
  if (!input.sandboxed) return { ...logins(input.host), ...own };
  return { ...own, HOME: input.home, ...input.model };
}

function logins(host: Env): Record<string, string> {
  const wanted = /_API_KEY$|_TOKEN$|_BASE_URL$|^(?:ANTHROPIC_|OPENAI_|GEMINI_|GOOGLE_|AWS_|AZURE_|VERTEX_|CLOUD_ML_|CLAUDE_CODE_USE_|CLAUDE_CODE_OAUTH_TOKEN$|CLAUDE_CONFIG_DIR$|CODEX_HOME$|OPENCODE_|XDG_|HTTPS?_PROXY$|NO_PROXY$|USER$)/i;
  return Object.fromEntries(Object.entries(host).flatMap(([name, value]) => (value !== undefined && wanted.test(name) ? [[name, value]] : [])));
}
