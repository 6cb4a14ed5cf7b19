// Bundles src/ into dist/. What has to be quick, help and `agents list`, is one CommonJS file (Node starts those without its loader of
// ES modules); everything else is ES modules in chunks that are loaded when they are needed.
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const src = join(root, "src");
const common = {
  outdir: dist,
  bundle: true,
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  loader: { ".md": "text" },
  external: ["libsql"],
  legalComments: "none",
};
// Indexes of parsed files are only good for the build that wrote them.
const define = { "process.env.CRU_BUILD": JSON.stringify(digestOf(src)) };
const INLINE = "agents-list.ts";
const lazy = new Set([join(src, "cli/program.ts")]);

rmSync(dist, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: { main: join(src, "main.ts") },
  // Read anew at every start.
  minifyIdentifiers: true,
  format: "cjs",
  define: { ...define, "import.meta.dirname": "__dirname" },
  plugins: [{
    name: "lazy-imports-stay-outside",
    setup: ({ onResolve }) => onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      if (kind !== "dynamic-import" || path.endsWith(INLINE)) return undefined;
      lazy.add(join(resolveDir, path));
      return { path: `./${basename(path, ".ts")}.mjs`, external: true };
    }),
  }],
});
await build({
  ...common,
  entryPoints: Object.fromEntries([...lazy].map((path) => [basename(path, ".ts"), path])),
  outExtension: { ".js": ".mjs" },
  splitting: true,
  format: "esm",
  define,
  plugins: [{
    // Half of zod is its messages in fifty languages; English stays, it is imported on its own.
    name: "no-translations",
    setup: ({ onLoad }) => onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export {};" })),
  }],
  chunkNames: "[name]-[hash]",
  // Some bundled packages are CommonJS and call require().
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
writeFileSync(join(dist, "package.json"), '{ "type": "commonjs" }\n');
chmodSync(join(dist, "main.js"), 0o755);

// `--help` and `--version` are printed at build time, so that they cost a file read.
const { buildProgram } = await import(pathToFileURL(join(dist, "program.mjs")).href);
const program = buildProgram({ out() {}, err() {} }, async () => {});
let help = "";
program.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 });
program.outputHelp();
writeFileSync(join(dist, "help.txt"), help);
writeFileSync(join(dist, "version.txt"), `${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`);

function digestOf(folder) {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder, { recursive: true }).map(String).filter((n) => /\.(?:ts|tsx|md)$/.test(n)).sort()) hash.update(`${name}\0`).update(readFileSync(join(folder, name))).update("\0");
  return hash.digest("hex").slice(0, 16);
}
