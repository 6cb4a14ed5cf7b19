import { describe, expect, it } from "vitest";
import { BASELINE, PERMISSIONS, type Permission } from "../../src/contract/permission.ts";
import { effectiveRights, PRIMARY_RIGHTS, type Granted } from "../../src/permission/effective.ts";

const ALL = 1 << PERMISSIONS.length;
const subsets: Permission[][] = Array.from({ length: ALL }, (_, bits) => PERMISSIONS.filter((_, i) => bits & (1 << i)));
const bitsOf = (rights: readonly Permission[]): number => rights.reduce((bits, right) => bits | (1 << PERMISSIONS.indexOf(right)), 0);
const BASE = bitsOf(BASELINE);
const NONE = { deny: [] as Permission[] };

/** Bits of the child's rights, -1 when the spawn is refused. */
function child(parent: number, definition: number, spawn: number | undefined, deny: number): number {
  const result = effectiveRights({ parent: subsets[parent]!, definition: subsets[definition]!, spawn: spawn === undefined ? undefined : subsets[spawn]!, policy: { deny: subsets[deny]! } });
  return result.status === "refused" ? -1 : bitsOf(result.granted);
}

/** The rule, written the other way: on bits. */
function rule(parent: number, definition: number, spawn: number | undefined, deny: number): number {
  const reach = (parent | BASE) & (definition | BASE);
  if (spawn !== undefined && (spawn & ~reach) !== 0) return -1;
  return (parent & definition & (spawn ?? ALL - 1) & ~deny) | BASE;
}

/** Every subset, or a spread of them that still holds the empty one, the full one and each single right. */
const every = Array.from({ length: ALL }, (_, i) => i);
const spread = every.filter((bits) => bits === 0 || bits === ALL - 1 || (bits & (bits - 1)) === 0 || bits % 11 === 5);

type Case = [parent: number, definition: number, spawn: number | undefined, deny: number];

/** The first 5 counter-examples of a property over all 128 × 128 pairs with a spread of spawns and policies. */
function counterExamples(holds: (...input: Case) => boolean): Case[] {
  const found: Case[] = [];
  for (const parent of every) {
    for (const definition of every) {
      for (let turn = 0; turn < 4; turn++) {
        // Spawns and policies rotate with the pair; every fourth case names no spawn, every fourth a spawn within reach.
        const other = spread[(parent * 3 + definition + turn) % spread.length]!;
        const spawn = turn === 0 ? undefined : turn === 1 ? other & parent & definition : other;
        const deny = spread[(parent + definition * 7 + turn) % spread.length]!;
        if (!holds(parent, definition, spawn, deny)) found.push([parent, definition, spawn, deny]);
        if (found.length === 5) return found;
      }
    }
  }
  return found;
}

describe("effective rights over every parent and definition", () => {
  it("are exactly the rule, and a spawn outside the parent's or the definition's rights is refused", () => {
    expect(counterExamples((...input) => child(...input) === rule(...input))).toEqual([]);
  });

  it("are exactly the rule for every policy, and for every spawn", () => {
    const wrong: Case[] = [];
    for (const definition of [0, 37, 90, ALL - 1]) {
      for (const other of every) {
        for (const one of every) {
          if (child(one, definition, undefined, other) !== rule(one, definition, undefined, other)) wrong.push([one, definition, undefined, other]);
          if (child(one, definition, other, 0) !== rule(one, definition, other, 0)) wrong.push([one, definition, other, 0]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("never exceed the parent's and the baseline, and always hold the baseline", () => {
    expect(
      counterExamples((parent, definition, spawn, deny) => {
        const got = child(parent, definition, spawn, deny);
        return got === -1 || ((got & ~(parent | BASE)) === 0 && (got & BASE) === BASE && (got & deny & ~BASE) === 0);
      }),
    ).toEqual([]);
  });

  it("grow with the parent's: one right more above never takes one away below", () => {
    expect(
      counterExamples((parent, definition, spawn, deny) => {
        const got = child(parent, definition, spawn, deny);
        return got === -1 || PERMISSIONS.every((_, i) => (parent & (1 << i)) !== 0 || (got & ~child(parent | (1 << i), definition, spawn, deny)) === 0);
      }),
    ).toEqual([]);
  });

  it("do not change when applied again, as in a chain of agents of one definition", () => {
    expect(
      counterExamples((parent, definition, spawn, deny) => {
        const got = child(parent, definition, spawn, deny);
        return got === -1 || child(got, definition, spawn === undefined ? undefined : spawn & got, deny) === got;
      }),
    ).toEqual([]);
  });

  it("do not depend on the order or repetition of what is given", () => {
    const twist = (rights: Permission[]): Permission[] => [...rights.toReversed(), ...rights];
    const wrong: Case[] = [];
    for (const parent of every) {
      for (const definition of spread) {
        for (const spawn of [undefined, 5, 90, ALL - 1]) {
          const straight = { parent: subsets[parent]!, definition: subsets[definition]!, spawn: spawn === undefined ? undefined : subsets[spawn]!, policy: { deny: subsets[parent ^ definition]! } };
          const twisted = { parent: twist(straight.parent), definition: twist(straight.definition), spawn: straight.spawn === undefined ? undefined : twist(straight.spawn), policy: { deny: twist(straight.policy.deny) } };
          if (JSON.stringify(effectiveRights(straight)) !== JSON.stringify(effectiveRights(twisted))) wrong.push([parent, definition, spawn, parent ^ definition]);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it("name as reduced exactly what the definition asks for and the parent lacks", () => {
    const wrong: Case[] = [];
    for (const parent of every) {
      for (const definition of every) {
        const result = effectiveRights({ parent: subsets[parent]!, definition: subsets[definition]!, policy: NONE });
        const expected = definition & ~(parent | BASE);
        if (result.status === "refused" || bitsOf(result.reduced) !== expected) wrong.push([parent, definition, undefined, 0]);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("effective rights", () => {
  const reader: Permission[] = ["FilesystemRead", "SemanticSearch"];

  it("of a definition that inherits are the parent's", () => {
    const parent: Permission[] = ["FilesystemWrite", "Shell"];
    expect(effectiveRights({ parent, definition: "inherit", policy: NONE })).toMatchObject({
      status: "granted",
      granted: ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"],
      reduced: [],
    });
  });

  it("of the default primary are all rights, less what the settings deny", () => {
    expect(PRIMARY_RIGHTS).toEqual(PERMISSIONS);
    const primary = effectiveRights({ parent: PRIMARY_RIGHTS, definition: "inherit", policy: { deny: ["NetworkAccess", "FilesystemRead"] } });
    expect(primary).toMatchObject({ granted: PERMISSIONS.filter((p) => p !== "NetworkAccess") });
  });

  it("are refused with the right and the parent's list when a spawn names what the parent lacks", () => {
    const result = effectiveRights({ parent: ["FilesystemRead", "FilesystemWrite"], definition: ["Shell"], spawn: ["Shell"], policy: NONE });
    expect(result).toEqual({
      status: "refused",
      refused: "Shell",
      message: "permission 'Shell' exceeds the parent's; the parent's permissions: FilesystemRead, FilesystemWrite, SemanticSearch",
      parent: ["FilesystemRead", "FilesystemWrite", "SemanticSearch"],
      definition: ["FilesystemRead", "SemanticSearch", "Shell"],
    });
  });

  it("are refused with both lists when a spawn names what the definition does not ask for", () => {
    const result = effectiveRights({ parent: PRIMARY_RIGHTS, definition: reader, spawn: ["FilesystemRead", "NetworkAccess"], policy: NONE });
    expect(result).toMatchObject({ status: "refused", refused: "NetworkAccess" });
    expect(result).toHaveProperty("message", expect.stringContaining("not in the agent's definition (which has: FilesystemRead, SemanticSearch)"));
    expect(result).toHaveProperty("message", expect.stringContaining(`the parent's permissions: ${PERMISSIONS.join(", ")}`));
  });

  it("may always be spawned with baseline rights, even by name and from a parent that lists none", () => {
    expect(effectiveRights({ parent: [], definition: [], spawn: ["SemanticSearch"], policy: { deny: ["SemanticSearch"] } })).toMatchObject({ granted: reader });
  });

  it("give a reason for every right, with every cause named", () => {
    const { reasons } = effectiveRights({ parent: ["FilesystemWrite", "NetworkAccess"], definition: ["FilesystemWrite", "Shell", "NetworkAccess"], spawn: ["FilesystemWrite"], policy: { deny: ["NetworkAccess"] } }) as Granted;
    const why = Object.fromEntries(Object.entries(reasons).map(([right, reason]) => [right, `${reason.granted}: ${reason.why}`]));
    expect(why).toEqual({
      FilesystemRead: "true: baseline: every agent has it and nothing can take it away",
      FilesystemWrite: "true: the definition asks for it and the parent has it",
      SemanticSearch: "true: baseline: every agent has it and nothing can take it away",
      DatabaseRead: "false: the definition does not ask for it; the parent does not have it; the spawn does not name it",
      DatabaseWrite: "false: the definition does not ask for it; the parent does not have it; the spawn does not name it",
      NetworkAccess: "false: the spawn does not name it; the settings deny it (permissions.deny)",
      Shell: "false: the parent does not have it; the spawn does not name it",
    });
  });
});
