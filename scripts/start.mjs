// `npm start`: sets everything up and runs the main job.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

setUp();
const { status } = spawnSync(process.execPath, [join(root, "dist", "main.js"), "demo", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exit(status ?? 1);
