import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { databaseExecuteTool } from "../../src/tools/database-execute.ts";
import { databaseQueryTool } from "../../src/tools/database-query.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder } from "../support/temp.ts";
import { call, toolContext } from "../support/tool-context.ts";

type Mode = "required" | "off";

function place(mode: Mode, options: { wal?: boolean; timeMs?: number } = {}) {
  const workspace = temporaryFolder();
  const db = new Database(join(workspace, "app.db"));
  if (options.wal === true) db.exec("PRAGMA journal_mode = WAL");
  db.exec("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, data BLOB); INSERT INTO users (name, data) VALUES ('ada', x'0102'), ('bob', NULL), ('li|ne\nbreak', NULL)");
  const deps = { sandbox: { mode }, home: temporaryFolder(), ...(options.timeMs === undefined ? {} : { timeMs: options.timeMs }) };
  const context = toolContext(workspace);
  return {
    workspace,
    db,
    names: () => (db.prepare("SELECT name FROM users ORDER BY id").all() as { name: string }[]).map((row) => row.name),
    query: (sql: string, path = "app.db") => call(databaseQueryTool(deps), { path, sql }, context),
    execute: (sql: string, path = "app.db") => call(databaseExecuteTool(deps), { path, sql }, context),
    preview: (sql: string, path = "app.db") => databaseExecuteTool(deps).preview?.({ path, sql }, context),
  };
}

const behaviour = (mode: Mode) => () => {
  it("queries, and shows every kind of value", async () => {
    const { query } = place(mode);
    expect(await query("SELECT * FROM users ORDER BY id")).toEqual({ ok: true, output: 'id | name | data\n1 | ada | <blob of 2 bytes>\n2 | bob | NULL\n3 | "li|ne\\nbreak" | NULL' });
    expect((await query("SELECT 9007199254740993 AS n, 1.5 AS f, 1 = 1 AS t")).output).toBe("n | f | t\n9007199254740993 | 1.5 | 1");
    expect((await query("SELECT * FROM users WHERE 0")).output).toBe("id | name | data\n(no rows)");
  });

  it("changes nothing in a query, however it is written", async () => {
    const { query, names, workspace } = place(mode);
    const before = readFileSync(join(workspace, "app.db"));
    const statements = [
      "DELETE FROM users", "DELETE FROM users RETURNING id", "UPDATE users SET name = 'x'", "PRAGMA query_only = 0", "SELECT 1; DELETE FROM users", "DROP TABLE users", "PRAGMA user_version = 7",
      "WITH x AS (SELECT 1) INSERT INTO users (name) SELECT 'evil' FROM x RETURNING id", "VACUUM",
    ];
    for (const sql of statements) await query(sql);
    expect(names()).toEqual(["ada", "bob", "li|ne\nbreak"]);
    expect(readFileSync(join(workspace, "app.db"))).toEqual(before);
    expect((await query("DELETE FROM users")).ok).toBe(false);
  });

  it("executes as one transaction and leaves no files behind", async () => {
    const { execute, names, db, workspace } = place(mode);
    expect(await execute("INSERT INTO users (name) VALUES ('eve'); UPDATE users SET name = 'ADA' WHERE id = 1")).toEqual({ ok: true, output: "done, 2 rows changed" });
    const failed = await execute("DELETE FROM users; INSERT INTO nowhere VALUES (1)");
    expect(failed).toMatchObject({ ok: false, output: expect.stringMatching(/^nothing was changed: .*nowhere/) });
    expect(names()).toEqual(["ADA", "bob", "li|ne\nbreak", "eve"]);
    db.close();
    expect(readdirSync(workspace)).toEqual(["app.db"]);
  });

  it("creates a database, and leaves none when the SQL is wrong", async () => {
    const { execute, query, workspace } = place(mode);
    expect((await execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)", "new/data.db")).ok).toBe(true);
    expect((await query("SELECT a FROM t", "new/data.db")).output).toBe("a\n1");
    expect((await execute("CREATE TABEL t (a)", "other.db")).ok).toBe(false);
    expect(existsSync(join(workspace, "other.db"))).toBe(false);
  });

  it("works with a database in WAL mode that another program has open", async () => {
    const { db, query, execute, names } = place(mode, { wal: true });
    db.exec("INSERT INTO users (name) VALUES ('only in the wal')");
    expect((await query("SELECT count(*) AS n FROM users")).output).toBe("n\n4");
    expect((await execute("INSERT INTO users (name) VALUES ('from the tool')")).output).toBe("done, 1 rows changed");
    expect(names().slice(3)).toEqual(["only in the wal", "from the tool"]);
  });

  it("works with a database in WAL mode that nobody has open", async () => {
    const { db, query, execute, workspace } = place(mode, { wal: true });
    db.close();
    expect((await query("SELECT count(*) AS n FROM users")).output).toBe("n\n3");
    expect((await execute("DELETE FROM users WHERE id > 1")).output).toBe("done, 2 rows changed");
    const again = new Database(join(workspace, "app.db"));
    expect(again.prepare("SELECT count(*) AS n FROM users").all()).toEqual([{ n: 1 }]);
    again.close();
  });

  it("previews on a copy: counts, first rows, and nothing changes", async () => {
    const { preview, names } = place(mode);
    const shown = await preview("DELETE FROM users WHERE id = 2; UPDATE users SET name = 'x' WHERE id = 1; CREATE TABLE extra (a)");
    expect(shown).toMatchObject({ title: "change the database app.db", reversible: false });
    expect(shown?.body).toContain("tried on a copy: 2 rows changed\nusers: 3 → 2 rows\n  - 1 | ada | <blob of 2 bytes>\n  - 2 | bob | NULL\n  + 1 | x | <blob of 2 bytes>");
    expect(shown?.body).toContain("extra: 0 → 0 rows");
    expect(names()).toEqual(["ada", "bob", "li|ne\nbreak"]);
    expect((await preview("DELETE FROM nowhere"))?.body).toContain("on a copy it fails: no such table: nowhere");
    expect((await preview("CREATE TABLE t (a)", "none.db"))?.body).toContain("t: 0 → 0 rows");
  });

  it("says what is wrong", async () => {
    const { query, workspace } = place(mode);
    writeFileSync(join(workspace, "text.db"), "this is no database at all, really");
    symlinkSync("/etc/passwd", join(workspace, "link.db"));
    expect((await query("SELECT 1", "ap.db")).output).toBe("ap.db does not exist; did you mean app.db?");
    expect((await query("SELECT 1", "text.db")).output).toBe("text.db is not an SQLite database");
    expect((await query("SELECT 1", "link.db")).output).toContain("out of the workspace");
    expect((await query("SELEC 1")).output).toContain("syntax error");
    expect((await query("UPDATE users SET name = 1")).output).toMatch(/database_execute|readonly/);
  });

  it("ends a query that never ends", async () => {
    const { query } = place(mode, { timeMs: 2000 });
    expect((await query("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")).output).toContain("took longer than 2 s");
  });

  it("a change that is killed in the middle is undone by the next reader", async () => {
    const { execute, names, db, workspace } = place(mode, { timeMs: 2500 });
    const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";
    const many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 500) INSERT INTO users (name, data) SELECT 'lost', zeroblob(10000) FROM c";
    const before = readFileSync(join(workspace, "app.db")).length;
    expect((await execute(`PRAGMA cache_size = 5; UPDATE users SET name = 'lost'; ${many}; ${endless}`)).output).toContain("took longer");
    // Parts of it had reached the file already.
    expect(readFileSync(join(workspace, "app.db")).length).toBeGreaterThan(before + 1_000_000);
    expect(names()).toEqual(["ada", "bob", "li|ne\nbreak"]);
    expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  });

  it("bounds the rows", async () => {
    const { query } = place(mode);
    const { output } = await query("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT n, hex(zeroblob(5000)) AS h FROM c");
    expect(output).toContain("[there are more rows");
    expect(output.length).toBeLessThan(60_000);
  });
};

describeSandboxed("database tools in the sandbox", () => {
  behaviour("required")();

  it("see nothing but the file: other databases cannot be attached", async () => {
    const { query, execute, workspace } = place("required");
    const other = new Database(join(workspace, "other.db"));
    other.exec("CREATE TABLE secret (a); INSERT INTO secret VALUES ('canary')");
    other.close();
    const results = [await query(`ATTACH DATABASE '${join(workspace, "other.db")}' AS o`), await execute(`ATTACH DATABASE '${join(workspace, "other.db")}' AS o; CREATE TABLE copy AS SELECT * FROM o.secret`)];
    expect(results.map((r) => r.ok)).toEqual([false, false]);
    expect(JSON.stringify(results)).not.toContain("canary");
  });
});

describe("database tools without a sandbox", () => {
  behaviour("off")();
});
