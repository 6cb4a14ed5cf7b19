import { type Permission, PERMISSIONS } from "../contract/permission.ts";
import type { Fault } from "../contract/problem.ts";
import { didYouMean, nearest } from "../lib/nearest.ts";

/** Claude Code's tools and the right that each needs here; null for those that need none. */
const TOOL_PERMISSIONS: Record<string, Permission | null> = {
  Read: "FilesystemRead", Glob: "FilesystemRead", Grep: "FilesystemRead", LS: "FilesystemRead", NotebookRead: "FilesystemRead",
  Write: "FilesystemWrite", Edit: "FilesystemWrite", MultiEdit: "FilesystemWrite", NotebookEdit: "FilesystemWrite",
  Bash: "Shell", BashOutput: "Shell", KillShell: "Shell", KillBash: "Shell", PowerShell: "Shell",
  WebFetch: "NetworkAccess", WebSearch: "NetworkAccess",
  Task: null, Agent: null, TodoWrite: null, TodoRead: null, TaskCreate: null, TaskGet: null, TaskList: null, TaskUpdate: null, TaskOutput: null, TaskStop: null,
  ExitPlanMode: null, EnterPlanMode: null, AskUserQuestion: null, SlashCommand: null, Skill: null, LSP: null, ToolSearch: null, SendMessage: null,
  ListMcpResourcesTool: null, ReadMcpResourceTool: null, ListMcpResources: null, ReadMcpResource: null,
};
const TOOLS = Object.keys(TOOL_PERMISSIONS);

type Words = string | readonly string[] | null | undefined;
type Odd = Pick<Fault, "code" | "message" | "hint"> & { field: "tools" | "disallowedTools" };

/** None given, or all of them, is "inherit". What is disallowed takes its whole right away: an agent never gets more here than there. */
export function claudePermissions(tools: Words, disallowed: Words): { permissions: Permission[] | "inherit"; odd: Odd[] } {
  const odd: Odd[] = [];
  const asked = tools === null || tools === undefined ? "all" : wordsOf(tools);
  const taken = rightsOf(disallowed === null || disallowed === undefined ? [] : wordsOf(disallowed), "disallowedTools", odd);
  if (asked === "all" || asked.some(meansAll)) {
    return { permissions: taken.size === 0 ? "inherit" : PERMISSIONS.filter((p) => !taken.has(p)), odd };
  }
  const given = rightsOf(asked, "tools", odd);
  return { permissions: PERMISSIONS.filter((p) => given.has(p) && !taken.has(p)), odd };
}

function rightsOf(words: readonly string[], field: Odd["field"], odd: Odd[]): Set<Permission> {
  const rights = new Set<Permission>();
  for (const word of words) {
    if (word.startsWith("mcp__")) continue;
    const [, name = word, pattern] = /^([^(]*)\((.*)\)$/s.exec(word) ?? [];
    const right = Object.hasOwn(TOOL_PERMISSIONS, name) ? TOOL_PERMISSIONS[name] : undefined;
    if (right === undefined) {
      odd.push({ field, code: "tool.unknown", message: `unknown tool '${word.slice(0, 60)}' gives no permission`, hint: nearest(name, TOOLS) === undefined ? "" : didYouMean(name, TOOLS) });
    } else if (right !== null) {
      rights.add(right);
      if (pattern !== undefined) odd.push({ field, code: "tool.pattern", message: `'${word.slice(0, 60)}' is read as ${right}; the pattern itself is not enforced`, hint: "use requires_approval in .crucible/agents" });
    }
  }
  return rights;
}

function meansAll(word: string): boolean {
  return /^(?:\*|all|all tools|inherit)$/i.test(word);
}

/** `Read, Write` · `[Read, Write]` · `Read Write` · `Bash(git add:*, git commit:*)`. */
function wordsOf(words: string | readonly string[]): string[] {
  const pieces = (typeof words === "string" ? [words] : words).flatMap(splitAtCommas);
  return pieces.flatMap((piece) => {
    const parts = piece.split(/\s+/);
    return parts.length > 1 && parts.every((part) => Object.hasOwn(TOOL_PERMISSIONS, part) || part.startsWith("mcp__")) ? parts : [piece];
  });
}

function splitAtCommas(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let piece = "";
  for (const character of text) {
    if (character === "(") depth++;
    if (character === ")" && depth > 0) depth--;
    if (character === "," && depth === 0) {
      pieces.push(piece);
      piece = "";
    } else piece += character;
  }
  return [...pieces, piece].map((p) => p.trim().replace(/^["'[]+|["'\]]+$/g, "").trim()).filter((p) => p !== "");
}
