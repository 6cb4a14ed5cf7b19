import { BASELINE, PERMISSIONS, type Permission } from "../contract/permission.ts";

export type RightsInput = {
  /** What the agent that starts the child has. For a primary: `PRIMARY_RIGHTS`. */
  parent: readonly Permission[];
  /** What the child's definition asks for. */
  definition: readonly Permission[] | "inherit";
  /** What the spawn names, undefined when it names nothing. */
  spawn?: readonly Permission[] | undefined;
  policy: { deny: readonly Permission[] };
};

export type Reason = {
  granted: boolean;
  why: string;
  baseline: boolean;
  parent: boolean;
  definition: boolean;
  /** undefined when the spawn names no rights at all. */
  spawn: boolean | undefined;
  denied: boolean;
};

export type Granted = {
  status: "granted";
  granted: Permission[];
  /** Rights of the definition that the parent lacks: the child does without, and the parent is told. */
  reduced: Permission[];
  reasons: Record<Permission, Reason>;
};

export type Refused = { status: "refused"; refused: Permission; message: string; parent: Permission[]; definition: Permission[] };

/** The default primary works for the user and has every right, behind gates. */
export const PRIMARY_RIGHTS: readonly Permission[] = PERMISSIONS;

/**
 * The one place where rights are decided: (parent ∩ definition ∩ (spawn or all) ∩ policy) ∪ baseline.
 * A spawn that names a right outside the parent's or the definition's is refused rather than reduced.
 */
export function effectiveRights(input: RightsInput): Granted | Refused {
  const parent = new Set<Permission>([...input.parent, ...BASELINE]);
  const definition = new Set<Permission>([...(input.definition === "inherit" ? PERMISSIONS : input.definition), ...BASELINE]);
  const overreach = inOrder(input.spawn ?? []).find((right) => !parent.has(right) || !definition.has(right));
  if (overreach !== undefined) return refusal(overreach, parent, definition);

  const reasons = Object.fromEntries(PERMISSIONS.map((right) => [right, reasonFor(right, input)])) as Record<Permission, Reason>;
  return {
    status: "granted",
    granted: PERMISSIONS.filter((right) => reasons[right].granted),
    reduced: input.definition === "inherit" ? [] : inOrder(input.definition).filter((right) => !parent.has(right)),
    reasons,
  };
}

function reasonFor(right: Permission, input: RightsInput): Reason {
  const facts = {
    baseline: (BASELINE as readonly Permission[]).includes(right),
    parent: input.parent.includes(right),
    definition: input.definition === "inherit" || input.definition.includes(right),
    spawn: input.spawn?.includes(right),
    denied: input.policy.deny.includes(right),
  };
  if (facts.baseline) return { ...facts, granted: true, why: "baseline: every agent has it and nothing can take it away" };
  const against = [
    ...(facts.definition ? [] : ["the definition does not ask for it"]),
    ...(facts.parent ? [] : ["the parent does not have it"]),
    ...(facts.spawn === false ? ["the spawn does not name it"] : []),
    ...(facts.denied ? ["the settings deny it (permissions.deny)"] : []),
  ];
  if (against.length > 0) return { ...facts, granted: false, why: against.join("; ") };
  const asks = input.definition === "inherit" ? "the definition names no rights, so it inherits" : "the definition asks for it";
  return { ...facts, granted: true, why: `${asks} and the parent has it` };
}

function refusal(right: Permission, parent: Set<Permission>, definition: Set<Permission>): Refused {
  const [has, asks] = [inOrder([...parent]), inOrder([...definition])];
  const message = parent.has(right)
    ? `permission '${right}' is not in the agent's definition (which has: ${asks.join(", ")}); the parent's permissions: ${has.join(", ")}`
    : `permission '${right}' exceeds the parent's; the parent's permissions: ${has.join(", ")}`;
  return { status: "refused", refused: right, message, parent: has, definition: asks };
}

function inOrder(rights: readonly Permission[]): Permission[] {
  return PERMISSIONS.filter((right) => rights.includes(right));
}
