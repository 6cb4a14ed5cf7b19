// Bundles src/ into dist/: one small entry, everything else in chunks that are loaded when they are needed.
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: { main: join(root, "src/main.ts"), program: join(root, "src/cli/program.ts") },
  outdir: dist,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  loader: { ".md": "text" },
  external: ["libsql"],
  chunkNames: "[name]-[hash]",
  legalComments: "none",
  // Some bundled packages are CommonJS and call require().
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
chmodSync(join(dist, "main.js"), 0o755);

// `--help` and `--version` are printed at build time, so that they cost a file read.
const { buildProgram } = await import(pathToFileURL(join(dist, "program.js")).href);
const program = buildProgram({ out() {}, err() {} }, async () => {});
let help = "";
program.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 });
program.outputHelp();
writeFileSync(join(dist, "help.txt"), help);
writeFileSync(join(dist, "version.txt"), `${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`);
