import type { CruEvent } from "../../contract/event.ts";
import type { Modification } from "../../contract/session.ts";

export type Decisions = {
  denials: { action: string; reason: string }[];
  modifications: Modification[];
  /** True when the last action that a person was asked about was refused. */
  lastDenied: boolean;
};

/** What people decided about one agent's actions, also in earlier processes. */
export function decisionsOf(events: readonly CruEvent[], spanId: string): Decisions {
  const titles = new Map<string, string>();
  const decisions: Decisions = { denials: [], modifications: [], lastDenied: false };
  for (const event of events) {
    if (!("span_id" in event) || event.span_id !== spanId) continue;
    if (event.type === "inbox.opened" && (event.kind === "approval" || event.kind === "permission")) titles.set(event.id, event.title);
    if (event.type === "inbox.reused") decisions.lastDenied = false;
    if (event.type !== "inbox.closed" || event.status === "withdrawn") continue;
    const action = titles.get(event.id);
    if (action === undefined) continue;
    decisions.lastDenied = event.decision !== "approve";
    if (event.decision !== "approve") decisions.denials.push({ action, reason: event.text === "" ? (event.status === "expired" ? "nobody answered in time" : "the user said no") : event.text });
    else if (event.after !== undefined) decisions.modifications.push({ action, before: parameters(event.before), after: parameters(event.after) });
  }
  return decisions;
}

/** The approvals for the whole session that were given to this agent, by what they allow; the newest counts. */
export function grantsOf(events: readonly CruEvent[], agent: string): Map<string, string> {
  const grants = new Map<string, string>();
  for (const event of events) {
    if (event.type === "inbox.closed" && event.grant !== undefined && event.agent === agent) grants.set(event.grant, event.id);
    if (event.type === "inbox.revoked" && grants.get(event.grant) === event.id) grants.delete(event.grant);
  }
  return grants;
}

function parameters(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
