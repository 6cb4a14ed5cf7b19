import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { readGuarded } from "../lib/read-guarded.ts";
import { sha256 } from "../lib/sha256.ts";
import { parseTemplate } from "../lib/template/parse-template.ts";
import { render, type RenderOptions } from "../lib/template/render.ts";
import type { Template } from "../lib/template/tree.ts";

const LARGEST = 1 << 20;
const PLACEHOLDER = "spell_content";

/**
 * The template around every spell: the project's own, else the built-in one. A project's own without the spell's place is an invalid definition.
 * `check` may refuse the project's own before it is used, by throwing; the hash is over the bytes that would be.
 */
export function loadSystemPrompt(paths: Pick<Paths, "project" | "builtin">, check: (file: { path: string; hash: string }) => void = () => {}): Template {
  const own = existsSync(paths.project.systemPrompt);
  const path = own ? paths.project.systemPrompt : paths.builtin.systemPrompt;
  const read = readGuarded(path, realpathSync(dirname(path)), Buffer.alloc(LARGEST));
  if (!read.ok) throw new CruError("invalid_definition", `${path} cannot be read: ${read.reason}`);
  if (own) check({ path, hash: sha256(read.bytes) });
  const template = parseTemplate(read.bytes.toString("utf8"), path);
  if (!showsSpell(template)) {
    throw new CruError("invalid_definition", `${path} does not say where the spell goes`, { hint: `put {{.${PLACEHOLDER}}} where the agent shall read its task` });
  }
  return template;
}

/** The first message of an agent: the system prompt with the rendered spell inside. Values are inserted once; a spell's text is never read as template. */
export function composePrompt(template: Template, input: { spellContent: string; context: Record<string, unknown> }, options: RenderOptions = {}): string {
  return render(template, { ...input.context, [PLACEHOLDER]: input.spellContent }, options);
}

/** Somewhere a value is shown that comes from the placeholder; a mere mention in a condition does not count. */
function showsSpell(template: Template): boolean {
  return find(template.nodes, (node) => node.kind === "show" && find(node.value, isPlaceholder));
}

type Tree = { kind?: unknown; value?: unknown; base?: unknown; names?: unknown };

function isPlaceholder(part: Tree): boolean {
  const [first] = Array.isArray(part.names) ? (part.names as { name?: unknown }[]) : [];
  return part.kind === "path" && first?.name === PLACEHOLDER;
}

function find(tree: unknown, wanted: (part: Tree) => boolean): boolean {
  if (typeof tree !== "object" || tree === null) return false;
  return (!Array.isArray(tree) && wanted(tree)) || Object.values(tree).some((part) => find(part, wanted));
}
