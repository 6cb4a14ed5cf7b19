// `npm start`: sets everything up and runs the main job.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

setUp();
for (const args of [["doctor"], ["agents", "list"]]) {
  console.log(`\n$ cru ${args.join(" ")}`);
  const { status } = spawnSync(process.execPath, [join(root, "dist", "main.js"), ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
