import type { SessionMetadata } from "../contract/session.ts";
import { frontmatter } from "../lib/emit-yaml.ts";
import { plainMarkdown } from "../lib/wikilink.ts";

/** `session.md`: what the session is, then the conversation. */
export function renderSession(metadata: SessionMetadata, conversation: string): string {
  const head = frontmatter({
    session_id: metadata.session_id,
    started_at: metadata.started_at,
    completed_at: metadata.completed_at,
    primary_agent: metadata.primary.agent,
    model: metadata.primary.model,
    status: metadata.status,
    trace_id: metadata.trace_id,
  });
  return `${head}\n# ${plainMarkdown(metadata.request, 100)}\n\n${conversation}`;
}
