import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CruError } from "../../contract/error.ts";
import { git, plainGit } from "../../lib/git.ts";

/** A small shop with a bug and the test that shows it; it needs nothing but node. */
const FILES: Record<string, string> = {
  "README.md": "# Till\n\nAdds up what is in a basket. Prices are in euros.\n",
  "package.json": `${JSON.stringify({ name: "till", version: "1.0.0", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  "src/total.js": `/** What a basket costs, in euros. */
export function total(items) {
  return items.reduce((sum, { price, count }) => sum + price * count, 0);
}
`,
  "test/total.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { total } from "../src/total.js";

test("an empty basket costs nothing", () => {
  assert.equal(total([]), 0);
});

test("three times ten cents is thirty cents", () => {
  assert.equal(total([{ price: 0.1, count: 3 }]), 0.3);
});
`,
};

export async function makeExampleProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const place = { gitDir: join(folder, ".git"), workTree: folder };
  const identity = { name: "Crucible demo", email: "demo@localhost" };
  const steps = [
    () => plainGit(["init", "--quiet", "--initial-branch=main", folder]),
    () => git(place, ["add", "--all"]),
    () => git(place, ["commit", "--quiet", "--message", "A till that adds up"], { identity }),
  ];
  for (const step of steps) {
    const { code, stderr, notFound } = await step();
    if (code !== 0) throw new CruError("failed", notFound ? "git was not found" : `the demo's repository could not be made: ${stderr.trim()}`, { hint: "install git 2.38 or newer; `cru doctor` checks it" });
  }
}
