// Installs and builds when needed, with nothing but Node. Says what it does.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split(".").map(Number);

export function setUp() {
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Crucible needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and try again.`);
    process.exit(1);
  }
  if (process.platform === "win32") {
    console.error("Crucible does not run on Windows itself. Open WSL and run the same command there.");
    process.exit(1);
  }
  install();
  build();
}

function install() {
  // A linked folder belongs to another checkout, which keeps it up to date.
  if (lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const stamp = join(root, "node_modules", ".crucible-lock");
  const want = digest([join(root, "package-lock.json")]);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === want) return;
  console.error("set-up: installing dependencies (npm ci)");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, want);
}

function build() {
  const stamp = join(root, "dist", ".stamp");
  const want = digest([...files(join(root, "src")), join(root, "package.json"), join(root, "scripts", "build.mjs")]);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === want) return;
  console.error("set-up: building dist/");
  run(process.execPath, [join(root, "scripts", "build.mjs")]);
  writeFileSync(stamp, want);
}

export function run(command, args, env = process.env) {
  try {
    execFileSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], env });
  } catch (error) {
    console.error(`set-up: ${command} ${args.join(" ")} failed (exit ${error.status ?? error.code})`);
    process.exit(1);
  }
}

function files(folder) {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? files(path) : [path];
    });
}

function digest(paths) {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}
