import { join } from "node:path";
import Database from "libsql";
import { expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";
import { describeSandboxed } from "../support/sandbox.ts";

describeSandboxed("the tools in the built program", () => {
  it("work in a chat: files, search, commands, databases; the key is nowhere inside, and what cannot be undone waits for a person", async () => {
    const call = (name: string, input: object) => ({ name, input, id: `call-${name}` });
    const box = await chatMachine({
      rules: [
        {
          match: {}, by: "turn", replies: [
            {
              tools: [
                call("write_file", { path: "src/a.txt", content: "needle\n" }), call("search_files", { pattern: "need.e" }), call("list_files", { pattern: "**/*.txt" }), call("read_file", { path: "src/a.txt" }),
                call("run_command", { command: "env; cat src/a.txt" }), call("database_query", { path: "app.db", sql: "SELECT a FROM t" }),
              ],
            },
            { tools: [call("database_execute", { path: "app.db", sql: "DELETE FROM t" })] },
          ],
        },
      ],
    } as Parameters<typeof chatMachine>[0]);
    const db = new Database(join(box.project, "app.db"));
    db.exec("CREATE TABLE t (a); INSERT INTO t VALUES ('kept')");
    const end = await box.chat(["do it"]);
    const results = new Map(box.session().events.flatMap((e) => (e.type === "agent.tool_result" ? [[e.tool, e] as const] : [])));
    expect([...results.values()].filter((r) => !r.ok)).toEqual([]);
    expect(results.get("search_files")?.output).toBe("src/a.txt:1:needle");
    expect(results.get("list_files")?.output).toBe("src/a.txt");
    expect(results.get("read_file")?.output).toBe("needle\n");
    expect(results.get("run_command")?.output).toContain("needle\n[exit code 0]");
    expect(results.get("run_command")?.output).not.toMatch(/ANTHROPIC|canary/);
    expect(results.get("database_query")?.output).toBe("a\nkept");
    expect(end.code).toBe(4);
    expect(results.has("database_execute")).toBe(false);
    expect(db.prepare("SELECT a FROM t").all()).toEqual([{ a: "kept" }]);
    db.close();
  });
});
