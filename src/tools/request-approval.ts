import { z } from "zod";
import type { Ask } from "../contract/runner.ts";
import type { Tool } from "../contract/tool.ts";
import prose from "./request-approval.md";

const inputSchema = z.object({ action: z.string().min(1).max(4000), reason: z.string().min(1).max(4000) });

/** The agent's own pause: it does not open any gate, the gates ask for themselves. */
export function requestApprovalTool(deps: { ask: Ask }): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "request_approval",
    description: prose.trim(),
    input: inputSchema,
    needs: [],
    changes: false,
    reentrant: true,
    async run(input, { callId }) {
      const asked = await deps.ask({
        key: callId, kind: "approval", title: input.action, body: input.reason, options: ["approve", "deny"], reversible: true,
        action: { tool: "request_approval", input },
      });
      if (asked.kind === "suspended") return { ok: false, output: "", suspended: asked.inboxId };
      const { answer } = asked;
      const words = answer.text === "" ? "" : `: ${answer.text}`;
      if (answer.decision === "approve") return { ok: true, output: `approved${answer.by === "timeout" ? " (nobody answered in time)" : ""}${words}` };
      if (answer.status === "expired") return { ok: false, output: "not approved: nobody answered in time. Do not do it." };
      return { ok: false, output: `denied${words}. Do not do it; adjust your approach.` };
    },
  };
}
