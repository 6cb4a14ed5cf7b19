import { expect, it } from "vitest";
import { answerQuestion } from "../../src/inbox/answer-question.ts";
import { openQuestion } from "../../src/inbox/open-question.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { findPaths } from "../../src/config/paths.ts";
import { machine } from "../support/cru.ts";
import { testClock, testPaths } from "../support/session.ts";

const deps = () => ({ paths: testPaths(), clock: testClock(), redactor: createRedactor({}) });
const open = (d: ReturnType<typeof deps>, reversible = true) =>
  openQuestion(
    {
      key: "k", kind: "permission", title: "Bash: npm install", body: "", options: ["Allow", "Deny", "Allow All"], reversible, action: { tool: "Bash", input: { command: "npm install" } },
      sessionId: "s", traceId: "t", agent: "a", spanId: "p", timeoutMs: null, onTimeout: "abort",
    },
    d,
  );

it.each([["Allow", "approve", "Allow"], ["allow all", "approve", "Allow All"], ["3", "approve", "Allow All"], ["2", "deny", "Deny"]])("a permission is answered by its own word: %s", (text, decision, kept) => {
  const d = deps();
  expect(answerQuestion({ id: open(d).id, decision: "answer", text }, d)).toMatchObject({ decision, text: kept });
});

it("other words are no decision, and what cannot be undone still needs its confirmation", () => {
  const d = deps();
  expect(() => answerQuestion({ id: open(d).id, decision: "answer", text: "why not" }, d)).toThrow("asks for a decision");
  const e = deps();
  const question = open(e, false);
  expect(() => answerQuestion({ id: question.id, decision: "answer", text: "Allow All" }, e)).toThrow("confirmation word");
  expect(answerQuestion({ id: question.id, decision: "answer", text: "Allow All", confirm: "Bash" }, e)).toMatchObject({ decision: "approve", text: "Allow All" });
});

it("from the command line the word comes with the answer, and who leaves it out is told how", async () => {
  const box = machine();
  const { id } = open({ ...deps(), paths: findPaths(box.project, { HOME: box.home }) }, false);
  const without = await box.cru(["inbox", "answer", id, "Allow All"]);
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining(`cru inbox answer ${id} "Allow All" --confirm Bash`)]);
  expect((await box.cru(["inbox", "answer", id, "Allow All", "--confirm", "bash"])).code).toBe(2);
  const given = await box.cru(["inbox", "answer", id, "Allow All", "--confirm", "Bash", "--json"]);
  expect([given.code, JSON.parse(given.stdout)]).toMatchObject([0, { item: { status: "answered", answer: { decision: "approve", text: "Allow All" } } }]);
});
