import type { Bead } from "../contract/bead.ts";
import type { Problem } from "../contract/problem.ts";

/** Where beads live. Every implementation passes the contract test in `test/beads/store-contract.ts`. */
export type BeadStore = {
  /** In the order of the store; what cannot be read is a problem, never lost. */
  list(): Promise<{ items: Bead[]; problems: Problem[] }>;
  get(id: string): Promise<Bead | undefined>;
  create(bead: NewBead): Promise<Bead>;
  /** `not_found` when there is no such bead. */
  update(id: string, change: BeadChange): Promise<Bead>;
  close(id: string, options?: { reason?: string }): Promise<Bead>;
};

type BeadFields = Pick<Bead, "title" | "description" | "design" | "acceptance_criteria" | "notes" | "assignee" | "status" | "priority" | "issue_type">;

export type NewBead = Pick<Bead, "title"> & Partial<BeadFields> & { labels?: readonly string[] };

export type BeadChange = Partial<BeadFields> & { addLabels?: readonly string[]; removeLabels?: readonly string[] };
