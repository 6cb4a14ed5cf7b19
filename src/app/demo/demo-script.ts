import type { Script } from "../../scripted/script.ts";

export const QUESTION = "Why does the test fail? Then write an agent that reviews code that counts money.";
export const TASK = "total() must not show rounding errors";
export const ACCEPTANCE = "node --test passes";
export const AGENT_FILE = ".crucible/agents/money-reviewer.md";

const AGENT = `---
name: money-reviewer
description: Reviews code that counts money, for rounding above all
model: sonnet
permissions: [FilesystemRead, SemanticSearch]
---
You review code that counts money. Look for sums of fractions, for rounding in the wrong place, and for amounts without a currency.

End with a section \`## Summary\`.
`;

const FINDINGS = `## Findings
- \`src/total.js:3\` multiplies and adds euros as fractions: 0.1 * 3 is 0.30000000000000004.
- \`test/total.test.js:10\` expects exactly 0.3.

## Summary
total() adds fractions of euros, which binary numbers cannot hold; counting whole cents and dividing once mends it.`;

const MENDED = `  const cents = items.reduce((sum, { price, count }) => sum + Math.round(price * 100) * count, 0);
  return cents / 100;`;

const OUTPUT = {
  success: true,
  summary: "total() counts whole cents and divides once at the end; node --test passes.",
  outputs: {},
};

/** What the demo's model says. Replies follow the number of turns in a request, so that a resumed agent goes on where it was. */
export const DEMO_SCRIPT: Script = {
  rules: [
    {
      name: "explore",
      match: { first_user: "Find out why the test fails" },
      by: "turn",
      replies: [
        { thinking: "Both sides of the failure: the code and the test.", tools: [{ name: "read_file", input: { path: "src/total.js" } }, { name: "read_file", input: { path: "test/total.test.js" } }] },
        { text: FINDINGS },
      ],
    },
    {
      name: "primary",
      match: { first_user: QUESTION },
      by: "turn",
      replies: [
        {
          text: "I let an explorer find the cause, then I write the agent.",
          tools: [{
            name: "update_plan",
            input: {
              tasks: [
                { id: "cause", description: "Find out why the test fails", agent: "explore" },
                { id: "agent", description: "Write an agent that reviews money code", depends_on: ["cause"] },
              ],
            },
          }],
        },
        { tools: [{ name: "write_file", input: { path: AGENT_FILE, content: AGENT } }] },
        {
          text: "The test fails because `total()` adds fractions of euros (`src/total.js:3`). The new agent `money-reviewer` looks for exactly that; `cru trust` lets it work.",
          tools: [{ name: "reflect", input: { goal_achieved: true, progress: 1, content: "The cause is known and the agent is written." } }],
        },
      ],
    },
    {
      name: "implementer",
      match: { any_user: TASK },
      by: "turn",
      replies: [
        { thinking: "Read it before changing it.", tools: [{ name: "read_file", input: { path: "src/total.js" } }] },
        {
          tools: [{
            name: "edit_file",
            input: { path: "src/total.js", old: "  return items.reduce((sum, { price, count }) => sum + price * count, 0);", new: MENDED },
          }],
        },
        { tools: [{ name: "run_command", input: { command: "node --test" } }] },
        {
          text: `Prices are counted in whole cents now, and the test passes.\n\n\`\`\`json\n${JSON.stringify(OUTPUT, null, 2)}\n\`\`\``,
          tools: [{ name: "reflect", input: { goal_achieved: true, progress: 1, content: "node --test passes." } }],
        },
      ],
    },
  ],
};
