import { describe, expect, it } from "vitest";
import { extractAgentOutput } from "../../src/runner/extract-agent-output.ts";

const block = (value: unknown, fence = "```") => `${fence}json\n${typeof value === "string" ? value : JSON.stringify(value)}\n${fence}`;
const good = { success: true, summary: "done", outputs: { n: 1 }, error: null };

describe("the output of an agent", () => {
  it("[EXE-10.1.1] holds success, summary, and where given outputs and an error", () => {
    expect(extractAgentOutput(`Text.\n\n${block(good)}\n`)).toEqual({ ok: true, output: good });
    expect(extractAgentOutput(block({ success: false, summary: "no", error: "why" }))).toMatchObject({ ok: true, output: { success: false, error: "why" } });
  });

  it("is the last json block, valid or not", () => {
    expect(extractAgentOutput(`${block({ success: true, summary: "first" })}\n${block({ success: false, summary: "last" })}`)).toMatchObject({ output: { summary: "last" } });
    expect(extractAgentOutput(`${block(good)}\n\n${block("{broken")}`)).toMatchObject({ ok: false, fault: expect.stringContaining("not JSON") as string });
    expect(extractAgentOutput(`${block(good)}\n\n${block({ verdict: "pass" })}`)).toMatchObject({ ok: false, fault: expect.stringContaining("success") as string });
  });

  it.each([
    ["no block at all", "All is done."],
    ["bare JSON", JSON.stringify(good)],
    ["a block of another language", block(good).replace("json", "yaml")],
    ["a block inside a larger one", `\`\`\`\`markdown\n${block(good)}\n\`\`\`\``],
    ["a block inside a block of the other kind", `~~~\n${block(good)}\n~~~`],
    ["a quotation", block(good).replace(/^/gm, "> ")],
    ["an indented block", block(good).replace(/^/gm, "    ")],
    ["a list instead of an object", block([good])],
    ["a success that is no boolean", block({ success: "true", summary: "x" })],
  ])("is not %s", (_, text) => {
    expect(extractAgentOutput(text).ok).toBe(false);
  });

  it("may stand in longer fences, have Windows line ends, and lack its closing fence", () => {
    expect(extractAgentOutput(block(good, "````")).ok).toBe(true);
    expect(extractAgentOutput(block(good).replaceAll("\n", "\r\n")).ok).toBe(true);
    expect(extractAgentOutput(`\`\`\`json\n${JSON.stringify(good)}`).ok).toBe(true);
  });
});
