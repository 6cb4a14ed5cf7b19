// `npm run check`: lint, types and the import order, in seconds.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

setUp();
const bin = (name) => join(root, "node_modules", ".bin", name);
const checks = [
  ["lint", bin("oxlint"), ["--deny-warnings", "--quiet"]],
  ["types", bin("tsc"), ["-p", "."]],
  ["architecture", bin("vitest"), ["run", "test/architecture.test.ts", "--reporter=dot"]],
];
const results = await Promise.all(checks.map(([name, command, args]) => one(name, command, args)));
for (const { name, status, output } of results) {
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${name}`);
  if (status !== 0) console.log(output);
}
process.exit(results.every((r) => r.status === 0) ? 0 : 1);

function one(name, command, args) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root });
    let output = "";
    child.stdout.on("data", (d) => (output += d));
    child.stderr.on("data", (d) => (output += d));
    child.on("close", (status) => done({ name, status, output }));
  });
}
