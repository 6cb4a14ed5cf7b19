import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const long = process.env.CRU_TEST_LONG === "1";

export default defineConfig({
  plugins: [
    {
      name: "markdown-as-text",
      enforce: "pre",
      load(id) {
        return id.endsWith(".md") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined;
      },
    },
  ],
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    globalSetup: ["test/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    // Only for what hangs: on a busy machine a test that starts ten programs takes minutes.
    testTimeout: long ? 1_800_000 : 300_000,
    hookTimeout: 120_000,
    retry: 0,
  },
});
