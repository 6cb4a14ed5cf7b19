import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach } from "vitest";
import { repository } from "./cru.ts";
import { temporaryFolder } from "./temp.ts";

/** Bundles a small program that uses our sources, so that a test can run it in processes of its own. `@src/…` is `src/…`. */
export async function program(source: string): Promise<string> {
  const folder = temporaryFolder();
  // Our sources look for the package that they belong to.
  writeFileSync(join(folder, "package.json"), "{}");
  const outfile = join(folder, "program.mjs");
  await build({
    stdin: { contents: source.replaceAll('"@src/', `"${repository}/src/`), resolveDir: repository, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    loader: { ".md": "text" },
    plugins: [
      {
        name: "libsql-from-here",
        setup: (b) => b.onResolve({ filter: /^libsql$/ }, () => ({ path: join(repository, "node_modules/libsql/index.js"), external: true })),
      },
    ],
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  });
  return outfile;
}

const running = new Set<ChildProcess>();

// What a failed test left running.
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** A program of ours, or any other by its absolute path. */
export function start(file: string, args: readonly string[] = []): ChildProcess & { output: () => string; ended: Promise<number | null> } {
  const [command, own] = file.endsWith(".mjs") ? [process.execPath, [file]] : [file, []];
  const child = spawn(command, [...own, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  return Object.assign(child, { output: () => text, ended });
}

/** A small seeded source of numbers below 1, the same on every machine. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
