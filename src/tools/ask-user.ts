import { z } from "zod";
import type { Ask } from "../contract/runner.ts";
import type { Tool } from "../contract/tool.ts";
import prose from "./ask-user.md";

const inputSchema = z.object({
  question: z.string().min(1).max(4000),
  options: z.array(z.string().min(1).max(200)).max(10).optional(),
});

export function askUserTool(deps: { ask: Ask }): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "ask_user",
    description: prose.trim(),
    input: inputSchema,
    needs: [],
    changes: false,
    // Asked again after a restart it is the same item, answered or not.
    reentrant: true,
    async run({ question, options }, { callId }) {
      const asked = await deps.ask({ key: callId, kind: "question", title: question, body: "", options: options ?? [], reversible: true, action: null });
      if (asked.kind === "suspended") return { ok: false, output: "", suspended: asked.inboxId };
      const { answer } = asked;
      if (answer.status !== "answered" || answer.decision === "deny") return { ok: false, output: `the user did not answer${answer.text === "" ? "" : `: ${answer.text}`}` };
      return { ok: true, output: answer.text === "" ? "yes" : answer.text };
    },
  };
}
