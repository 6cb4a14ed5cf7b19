import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const PROJECT = {
  "package.json": '{"name":"small","type":"module","scripts":{"test":"node --test"}}\n',
  "src/sum.js": "export function addUp(a, b) {\n  return a + b;\n}\n",
  "src/total.js": 'import { addUp } from "./sum.js";\n\nexport const total = (list) => list.reduce((a, b) => addUp(a, b), 0);\n',
  "test/total.test.js": 'import assert from "node:assert";\nimport { test } from "node:test";\nimport { total } from "../src/total.js";\nimport { addUp } from "../src/sum.js";\n\ntest("total", () => {\n  assert.equal(total([1, 2, 3]), 6);\n  assert.equal(addUp(1, 1), 2);\n});\n',
  "README.md": "# small\n\nUses `addUp`.\n",
};

const call = (name: string, input: unknown, id?: string): object => ({ name, input, ...(id === undefined ? {} : { id }) });
const edits = [
  call("edit_file", { path: "src/sum.js", old: "function addUp(", new: "function sum(" }),
  call("edit_file", { path: "src/total.js", old: 'import { addUp } from', new: "import { sum } from" }),
  call("edit_file", { path: "src/total.js", old: "=> addUp(a, b)", new: "=> sum(a, b)" }),
  call("edit_file", { path: "test/total.test.js", old: "import { addUp }", new: "import { sum }" }),
  call("edit_file", { path: "test/total.test.js", old: "assert.equal(addUp(", new: "assert.equal(sum(" }),
  call("edit_file", { path: "README.md", old: "`addUp`", new: "`sum`" }),
];
const turns = (...replies: object[]): Parameters<typeof chatMachine>[0] => ({ rules: [{ match: {}, by: "turn", replies }] }) as Parameters<typeof chatMachine>[0];
const RENAME = [
  { text: "I look for every use first.", tools: [call("update_plan", { tasks: [{ id: "find", description: "search for usages", status: "in_progress" }, { id: "edit", description: "edit files", depends_on: ["find"] }, { id: "check", description: "run the tests", depends_on: ["edit"] }] }), call("search_files", { pattern: "addUp" })] },
  { tools: edits },
  { tools: [call("run_command", { command: "node --test 2>&1 | tail -8" }), call("search_files", { pattern: "addUp" }, "again")] },
  { text: "Renamed addUp to sum in 4 files; the test passes.", tools: [call("reflect", { goal_achieved: true, progress: "all usages handled", content: "search finds none, test passes" })] },
];

describeSandboxed("the loop on a real project", () => {
  it("[PAOR-1.1.1] finds all usages, renames them, runs the tests, reflects, and is done", async () => {
    const box = await chatMachine(turns(...RENAME), { project: PROJECT });
    const { code, stdout } = await box.chat(["Find all usages of function addUp and rename to sum"]);
    expect([code, stdout]).toEqual([0, "Renamed addUp to sum in 4 files; the test passes.\n"]);
    for (const file of ["src/sum.js", "src/total.js", "test/total.test.js", "README.md"]) expect(readFileSync(join(box.project, file), "utf8")).not.toContain("addUp");
    expect(execFileSync(process.execPath, ["--test"], { cwd: box.project, encoding: "utf8" })).toContain("# pass 1");
    const { events } = box.session();
    const order = events.flatMap((e) => (e.type === "agent.plan" ? ["PLAN"] : e.type === "agent.tool_call" && e.tool === "edit_file" ? ["ACT"] : e.type === "agent.tool_result" && e.tool === "run_command" ? ["OBSERVE"] : e.type === "agent.reflection" ? ["REFLECT"] : []));
    expect([...new Set(order)]).toEqual(["PLAN", "ACT", "OBSERVE", "REFLECT"]);
    const tests = events.find((e) => e.type === "agent.tool_result" && e.tool === "run_command");
    expect(tests).toMatchObject({ ok: true, output: expect.stringContaining("# pass 1") });
    expect(events.find((e) => e.type === "agent.tool_result" && e.call_id === "again")).toMatchObject({ output: expect.stringMatching(/no hit/) });
  });

  it("the same with a tool that fails recovers", async () => {
    const [plan, , check, done] = RENAME;
    const box = await chatMachine(
      turns(plan ?? {}, { tools: [call("edit_file", { path: "src/sum.js", old: "function addup(", new: "function sum(" }, "wrong"), ...edits.slice(1)] }, { text: "That text does not occur; again.", tools: [edits[0] ?? {}] }, check ?? {}, done ?? {}),
      { project: PROJECT },
    );
    expect((await box.chat(["rename addUp to sum"])).code).toBe(0);
    expect(box.session().events.find((e) => e.type === "agent.tool_result" && e.call_id === "wrong")).toMatchObject({ ok: false });
    expect(execFileSync(process.execPath, ["--test"], { cwd: box.project, encoding: "utf8" })).toContain("# pass 1");
  });

});

describe("what the user is told", () => {
  it("[PAOR-6.1.1] five steps end in one short answer, without the raw outputs", async () => {
    const raw = "x = 1 // line of the file that nobody wants to read again";
    const box = await chatMachine(
      turns(
        { tools: [call("search_files", { pattern: "nobody wants" })] }, { tools: [call("read_file", { path: "a.js" })] }, { tools: [call("edit_file", { path: "a.js", old: "x = 1", new: "x = 2" })] },
        { tools: [call("read_file", { path: "a.js" })] }, { text: "Fixed: x is 2 now, confirmed by reading it back.", tools: [call("reflect", { goal_achieved: true, progress: "", content: "" })] },
      ),
      { project: { "a.js": `${raw}\n` } },
    );
    const { stdout } = await box.chat(["fix x"]);
    expect(stdout).toBe("Fixed: x is 2 now, confirmed by reading it back.\n");
  });

  it("[PAOR-6.2.1] --verbose adds the steps with what was observed", async () => {
    const box = await chatMachine(turns({ tools: [call("read_file", { path: "a.txt" }), call("read_file", { path: "missing.txt" })] }, { text: "It says hello." }), { project: { "a.txt": "hello from the file\n" } });
    const { stdout } = await box.chat(["what does a.txt say?", "--verbose"]);
    expect(stdout).toContain('1. read_file {"path":"a.txt"}');
    expect(stdout).toContain("hello from the file");
    expect(stdout).toMatch(/2\. read_file \{"path":"missing\.txt"\} \(\d+ ms\) ✗/);
    expect(stdout.endsWith("It says hello.\n")).toBe(true);
  });
});
