import { CLAUDE_AGENT_KEYS } from "../contract/claude-agent.ts";
import type { Entry } from "../contract/catalog.ts";
import { readLoosely } from "../lib/loose-frontmatter.ts";
import { readSource } from "./read-body.ts";
import { readFrontmatter } from "./read-frontmatter.ts";

/** Everything that the file's frontmatter says, also what we do not use. */
export function frontmatterOf(entry: Entry<unknown>): Record<string, unknown> {
  const read = readFrontmatter(readSource(entry));
  return read.value ?? readLoosely(read.source, CLAUDE_AGENT_KEYS).value;
}
