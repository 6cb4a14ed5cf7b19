// `npm run spec`: which identifiers of test/scenarios.json no passing test names in its own title.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setUp } from "./setup.mjs";

const MOST_PER_TEST = 4;

export function printCoverage(report, { brief }) {
  const scenarios = JSON.parse(readFileSync(join(root, "test", "scenarios.json"), "utf8"));
  const areaOf = new Map(Object.entries(scenarios).flatMap(([area, ids]) => ids.map((id) => [id, area])));
  const passed = new Set();
  const broken = new Set();
  const faults = [];
  for (const test of report.testResults.flatMap((file) => file.assertionResults)) {
    const ids = [...test.title.matchAll(/\[((?:CRU|EXE|EXD|ORC|PAOR)-\d+\.\d+\.\d+)\]/g)].map((m) => m[1]);
    if (ids.length > MOST_PER_TEST) faults.push(`more than ${MOST_PER_TEST} identifiers: ${test.title}`);
    for (const id of ids) {
      if (!areaOf.has(id)) faults.push(`unknown identifier ${id}: ${test.title}`);
      (test.status === "passed" ? passed : broken).add(id);
    }
  }
  const holds = (id) => passed.has(id) && !broken.has(id);
  for (const [area, ids] of Object.entries(scenarios)) {
    const missing = ids.filter((id) => !holds(id));
    if (missing.length > 0 && !brief) console.log(`${area}: ${missing.join(" ")}`);
  }
  for (const fault of faults) console.log(fault);
  const total = [...areaOf.keys()];
  console.log(`specification: ${total.filter(holds).length} of ${total.length} clauses have a passing test that names them`);
  return faults.length === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  setUp();
  const folder = mkdtempSync(join(tmpdir(), "cru-report-"));
  const file = process.argv[2] ?? join(folder, "report.json");
  if (process.argv[2] === undefined) {
    spawnSync(join(root, "node_modules", ".bin", "vitest"), ["run", "--reporter=dot", "--reporter=json", `--outputFile.json=${file}`], { cwd: root, stdio: "inherit" });
  }
  const ok = printCoverage(JSON.parse(readFileSync(file, "utf8")), { brief: false });
  rmSync(folder, { recursive: true, force: true });
  process.exit(ok ? 0 : 1);
}
