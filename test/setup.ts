import { afterEach } from "vitest";
import { removeTemporaryFolders } from "./support/temp.ts";

// Nothing of the machine's own settings may reach a test.
for (const name of Object.keys(process.env)) {
  if (/^(CRU_(?!TEST_LONG|REQUIRE_SANDBOX)|ANTHROPIC_|OPENAI_|CLAUDE_|XDG_)/.test(name)) delete process.env[name];
}

afterEach(removeTemporaryFolders);
