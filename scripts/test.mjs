// `npm test [-- FILTER…]`: sets everything up, checks, runs all tests, closes with `N passed, N failed` of the real counts.
// `--long` runs the bars with large counts whole.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

const args = process.argv.slice(2);
const long = args.includes("--long");
const filters = args.filter((a) => a !== "--long");

setUp();
if (filters.length === 0) {
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "check.mjs")], { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    console.log("0 passed, 1 failed");
    process.exit(1);
  }
}
const folder = mkdtempSync(join(tmpdir(), "cru-report-"));
const report = join(folder, "report.json");
const vitest = spawnSync(
  join(root, "node_modules", ".bin", "vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...filters],
  { cwd: root, stdio: "inherit", env: { ...process.env, ...(long ? { CRU_TEST_LONG: "1" } : {}) } },
);
let counts = { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, testResults: [] };
try {
  counts = JSON.parse(readFileSync(report, "utf8"));
} catch {
  console.log("vitest wrote no report");
}
if (filters.length === 0) {
  const { printCoverage } = await import("./spec.mjs");
  printCoverage(counts, { brief: true });
}
rmSync(folder, { recursive: true, force: true });
// A file that fails to load has no tests of its own to count.
const brokenFiles = counts.testResults.filter((f) => f.status === "failed" && f.assertionResults.length === 0).length;
console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests + brokenFiles} failed, ${counts.numPendingTests ?? 0} skipped`);
process.exit(vitest.status ?? 1);
