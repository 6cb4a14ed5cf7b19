import { loadSpells, renderSpell } from "../../catalog/spells.ts";
import type { Env, Paths } from "../../config/paths.ts";
import type { Bead } from "../../contract/bead.ts";
import { composePrompt, loadSystemPrompt } from "../../runner/system-prompt.ts";
import { requireTrusted, type Trust } from "../../trust/open-trust.ts";
import { loadDeps } from "../agent-catalog.ts";

/** The profile of work that no workflow describes. */
const DEFAULT_SPELL = "implement";

export type TaskPrompt = { render(bead: Bead, priorAttempts: string): string };

/** Reads templates once, and refuses those of the project that nobody trusted. */
export function openTaskPrompt(deps: { paths: Paths; env: Env; trust: Pick<Trust, "isTrusted"> }): TaskPrompt {
  const { paths, trust } = deps;
  const book = loadSpells(paths, loadDeps(paths, deps.env, "spells"));
  const template = loadSystemPrompt(paths, (file) => requireTrusted(trust, { ...file, what: "the system prompt" }));
  const check = (file: { name: string; path: string; hash: string }): void => requireTrusted(trust, { ...file, what: `the spell '${file.name}'` });
  const render: TaskPrompt["render"] = (bead, priorAttempts) => {
    const context = { bead: { ...bead, type: bead.issue_type }, prior_attempts: priorAttempts };
    return composePrompt(template, { spellContent: renderSpell(DEFAULT_SPELL, context, { book: () => book, check }), context });
  };
  // A spell that cannot be used shall stop the command before anything was made.
  render({ id: "bead", title: "title", status: "open", priority: 2, issue_type: "task", labels: [], dependencies: [] }, "");
  return { render };
}
