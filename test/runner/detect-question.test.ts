import { describe, expect, it } from "vitest";
import { detectQuestion } from "../../src/runner/detect-question.ts";

describe("a question in an agent's words", () => {
  it.each([
    ["open", "I am stuck.\n\nWhat is the name of the table?", "What is the name of the table?", []],
    ["confirmation", "The migration is ready. Should I run it now?", "Should I run it now?", ["Yes", "No"]],
    ["confirmation", "Delete the old file? (y/n)", "Delete the old file?", ["y", "n"]],
    ["choice", "Which one do you prefer?\n\n1. SQLite\n2. **Postgres**\n", "Which one do you prefer?", ["SQLite", "Postgres"]],
    ["choice", "Which?\n- keep `a`\n- drop it", "Which?", ["keep a", "drop it"]],
    ["choice", "I can do both. Should I use npm, pnpm or yarn?", "Should I use npm, pnpm or yarn?", ["npm", "pnpm", "yarn"]],
  ])("of the kind %s: %j", (category, text, question, options) => {
    expect(detectQuestion(text)).toEqual({ category, question, options });
  });

  it.each([
    "All done.",
    "Why did it fail? Because the path was wrong. I fixed it.",
    "Steps:\n1. read\n2. write",
    "Done.\n\n```js\nconst x = a ? b : c // really?\n```",
    "",
    "?",
  ])("is not in %j", (text) => {
    expect(detectQuestion(text)).toBeUndefined();
  });
});
