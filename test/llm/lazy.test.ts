import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { repository } from "../support/cru.ts";

const src = join(repository, "src");

it("the model SDK is named in one file, and only inside functions", () => {
  const users = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => /^import (?!type)[^;]*from "(?:ai|@ai-sdk\/[^"]+)"|import\("(?:ai|@ai-sdk\/[^"]+)"\)/m.test(readFileSync(join(src, file), "utf8")));
  expect(users).toEqual(["llm/open-stream.ts"]);
  expect(readFileSync(join(src, users[0]!), "utf8")).not.toMatch(/^import (?!type)[^;]*from "(?:ai|@ai-sdk)/m);
});

it("what a command loads to choose a model or a price holds neither the SDK nor zod", async () => {
  const { metafile } = await build({
    stdin: { contents: ["stream-model", "provider", "price"].map((f) => `export * from "./llm/${f}.ts";`).join("\n"), resolveDir: src, loader: "ts" },
    bundle: true, splitting: true, format: "esm", platform: "node", outdir: "out", write: false, metafile: true, minify: true,
  });
  const entry = Object.values(metafile.outputs).find((o) => o.entryPoint === "<stdin>")!;
  const loaded = new Set<string>();
  const visit = (output: (typeof metafile.outputs)[string]): void => {
    Object.keys(output.inputs).forEach((i) => loaded.add(i));
    for (const { path, kind } of output.imports) if (kind === "import-statement" && metafile.outputs[path] !== undefined) visit(metafile.outputs[path]);
  };
  visit(entry);
  expect([...loaded].filter((file) => file.includes("node_modules"))).toEqual([]);
  expect(entry.bytes).toBeLessThan(30_000);
});
