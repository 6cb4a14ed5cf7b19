import type { BeadChange } from "../beads/bead-store.ts";
import { BEAD_STATUSES, BEAD_TYPES, type Bead } from "../contract/bead.ts";
import { CruError } from "../contract/error.ts";
import { didYouMean } from "../lib/nearest.ts";

const MOST_TITLE = 500;

/** The fields that `beads create` and `beads update` have in common. */
export function beadFields(options: Record<string, unknown>): BeadChange {
  const text = (name: string): string | undefined => (typeof options[name] === "string" ? options[name] : undefined);
  const priority = text("priority");
  const type = text("type");
  const fields = {
    description: text("description"),
    acceptance_criteria: text("acceptance"),
    design: text("design"),
    notes: text("notes"),
    assignee: text("assignee"),
    priority: priority === undefined ? undefined : priorityOf(priority),
    issue_type: type === undefined ? undefined : oneOf(type, BEAD_TYPES, "--type"),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function titleOf(text: string): string {
  const title = text.trim();
  if (title === "" || /[\r\n]/.test(title)) throw new CruError("usage", title === "" ? "the title is empty" : "a title is one line", { hint: "the rest belongs into --description" });
  if (title.length > MOST_TITLE) throw new CruError("usage", `the title has ${title.length} characters; ${MOST_TITLE} is the most`, { hint: "the rest belongs into --description" });
  return title;
}

export function labelsOf(value: unknown, option: string): string[] {
  const labels = (Array.isArray(value) ? value : []).filter((label): label is string => typeof label === "string").map((label) => label.trim());
  if (labels.includes("")) throw new CruError("usage", `${option} is empty`);
  return labels;
}

export function statusOf(value: string): Bead["status"] {
  return oneOf(value, BEAD_STATUSES, "--status");
}

function oneOf<T extends string>(value: string, allowed: readonly T[], option: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new CruError("usage", `${option} does not know '${value}'`, { hint: didYouMean(value, allowed) });
  return found;
}

function priorityOf(value: string): number {
  const digit = /^[pP]?([0-4])$/.exec(value)?.[1];
  if (digit === undefined) throw new CruError("usage", `--priority needs a number from 0 (highest) to 4, not '${value}'`);
  return Number(digit);
}
