// Model calls of the Plan-Act-Observe-Reflect loop over a plain loop of tools, on five named tasks against a scripted model.
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export async function callLines() {
  const folder = mkdtempSync(join(root, "dist", "bench-"));
  try {
    const outfile = join(folder, "calls.mjs");
    await build({
      entryPoints: [join(root, "bench", "calls-entry.ts")], outfile, bundle: true, format: "esm", platform: "node", target: "node20", loader: { ".md": "text" }, external: ["libsql"],
      banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" }, logLevel: "error",
    });
    const { countCalls } = await import(pathToFileURL(outfile).href);
    const rows = await countCalls();
    const line = ({ task, plain, ours }) => `  ${task.padEnd(28)} ${String(plain).padStart(5)}  ${String(ours).padStart(4)}   <= ${plain + 1}   ${ours <= plain + 1 ? "PASS" : "over"}`;
    return ["Model calls, over a plain loop of tools", "  task                         plain  ours   bar", ...rows.map(line)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) console.log((await callLines()).join("\n"));
