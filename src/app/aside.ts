import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { Emit } from "../contract/event.ts";
import type { Question } from "../contract/question.ts";
import type { AgentIdentity } from "../contract/runner.ts";
import { PROTECTED_NAMES } from "../lib/protected-path.ts";
import { type QuestionDeps, openQuestion } from "../inbox/open-question.ts";
import { type Appeared, movePath } from "../sandbox/appeared.ts";

const PUT_BACK = "put_back";
const inputSchema = z.object({ name: z.enum(PROTECTED_NAMES), workspace: z.string(), aside: z.string().regex(/^appeared-\w{6}$/) });
const MOST_FILES = 50;
const MOST_SHOWN_BYTES = 2000;

export type AsideDeps = QuestionDeps & { paths: Paths; emit: Emit };

/**
 * Asks whether what appeared under a protected name, and was moved aside, goes into the workspace. Nobody waits for the answer: the agent
 * goes on without it, and whoever answers puts it back.
 */
export function offerAside(appeared: readonly Appeared[], { identity, workspace }: { identity: AgentIdentity; workspace: string }, deps: AsideDeps): void {
  for (const { name, movedTo } of appeared) {
    const input = { name, workspace, aside: basename(dirname(movedTo)) };
    const question = openQuestion(
      {
        key: `${input.aside} ${name}`, kind: "approval", title: `put ${name} into the workspace`, options: ["approve", "deny"], reversible: true,
        body: `A command made ${name}. That configures agents or git, so it was moved out of the workspace.\nIt is now ${movedTo}; denied, it stays there.\n\n${contents(movedTo)}`,
        action: { tool: PUT_BACK, input }, reason: `${name} is protected`, impact: `${name} appears in ${workspace}`,
        sessionId: identity.sessionId, traceId: identity.traceId, agent: identity.name, spanId: identity.spanId, timeoutMs: null, onTimeout: "abort",
      },
      deps,
    );
    const message = `a command made ${name}, which is protected; it was moved aside (\`cru inbox show ${question.id}\` shows it, \`cru inbox approve ${question.id}\` puts it into the workspace)`;
    deps.emit({ type: "warning", session_id: identity.sessionId, span_id: identity.spanId, message });
  }
}

/** Whether the answer to it is all there is to it: no agent waits, none is resumed. */
export function isPutBack(question: Question): boolean {
  return question.action?.tool === PUT_BACK;
}

/** Undefined for every other question. Throws when it can no longer be put back; the function it gives does it. */
export function putBackOf(question: Question, paths: Pick<Paths, "root" | "project" | "user">): (() => void) | undefined {
  if (!isPutBack(question)) return undefined;
  // The record lies in the project: it may have come with it, and must not lead anywhere else.
  const parsed = inputSchema.safeParse(question.action?.input);
  if (!parsed.success || !isOurs(parsed.data.workspace, paths)) throw new CruError("failed", `${question.id} does not name something that was moved aside here`);
  const { name, workspace, aside } = parsed.data;
  const [from, to] = [join(paths.user.aside, aside, name), join(workspace, name)];
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) throw new CruError("failed", `what was moved aside is no longer there: ${from}`);
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw new CruError("failed", `there is a ${name} in the workspace now`, { hint: `what was moved aside is ${from}` });
  return () => movePath(from, to);
}

function isOurs(workspace: string, { root, project }: Pick<Paths, "root" | "project">): boolean {
  return workspace === root || (dirname(workspace) === project.worktrees && !basename(workspace).startsWith(".") && existsSync(workspace));
}

function contents(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `a link to ${readlinkSync(path)}`;
  if (stat.isFile()) return stat.size > MOST_SHOWN_BYTES ? `a file of ${stat.size} bytes` : readFileSync(path, "utf8");
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((e) => !e.isDirectory()).map((e) => join(e.parentPath, e.name).slice(path.length - basename(path).length)).sort();
  const rest = files.length > MOST_FILES ? [`… and ${files.length - MOST_FILES} more`] : [];
  return files.length === 0 ? "an empty folder" : [...files.slice(0, MOST_FILES), ...rest].join("\n");
}
