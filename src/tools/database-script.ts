/** What the child is told on stdin. */
export type DatabaseJob = {
  kind: "query" | "execute" | "preview";
  libsql: string;
  file: string;
  /** For a preview: the state before. */
  before?: string;
  /** Path → `dev:ino` of the files that were checked outside; what is mounted here must be the same ones. */
  expected: Record<string, string>;
  sql: string;
};

export type TableChange = { table: string; rows_before: number; rows_after: number; added: Row[]; removed: Row[] };
export type Row = (string | number | null)[];
export type DatabaseAnswer =
  | { ok: true; columns: string[]; rows: Row[]; more: boolean }
  | { ok: true; changes: number; tables: TableChange[] }
  | { ok: false; message: string };

/**
 * Plain JavaScript for `node -e`: it runs in a sandbox that holds nothing but node, libsql and the file.
 * A boolean bound as a parameter aborts libsql, so nothing is ever bound; `readonly` is ignored by it, so `query_only` is set.
 */
export const DATABASE_SCRIPT = `
const { readFileSync, statSync } = require("node:fs");
const job = JSON.parse(readFileSync(0, "utf8"));
const answer = (value) => process.stdout.write(JSON.stringify(value));
const quote = (name) => '"' + name.replaceAll('"', '""') + '"';
const cell = (value) => {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : String(value);
  if (typeof value === "number") return value;
  if (typeof value === "string") return value.length > 2000 ? value.slice(0, 2000) + "… (" + value.length + " characters)" : value;
  return "<blob of " + value.length + " bytes>";
};
const take = (statement, most) => {
  const rows = [];
  let size = 0;
  for (const row of statement.raw().safeIntegers().iterate()) {
    if (rows.length >= most || size > 40000) return { rows, more: true };
    const cells = row.map(cell);
    size += JSON.stringify(cells).length;
    rows.push(cells);
  }
  return { rows, more: false };
};
const one = (db, sql) => Number(db.prepare(sql).raw().all()[0][0]);
const tablesOf = (db, schema) => db.prepare("SELECT name FROM " + schema + ".sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\\\_%' ESCAPE '\\\\'").raw().all().map((r) => r[0]);
const compare = (db) => {
  const before = new Set(tablesOf(db, "before"));
  const after = new Set(tablesOf(db, "main"));
  const changes = [];
  for (const table of new Set([...before, ...after])) {
    const name = quote(table);
    const change = { table, rows_before: before.has(table) ? one(db, "SELECT count(*) FROM before." + name) : 0, rows_after: after.has(table) ? one(db, "SELECT count(*) FROM main." + name) : 0, added: [], removed: [] };
    const comparable = before.has(table) && after.has(table) && Math.max(change.rows_before, change.rows_after) <= 200000;
    if (comparable) {
      try {
        change.added = take(db.prepare("SELECT * FROM main." + name + " EXCEPT SELECT * FROM before." + name), 5).rows;
        change.removed = take(db.prepare("SELECT * FROM before." + name + " EXCEPT SELECT * FROM main." + name), 5).rows;
      } catch {}
    }
    if (before.has(table) !== after.has(table) || change.rows_before !== change.rows_after || change.added.length + change.removed.length > 0) changes.push(change);
  }
  return changes;
};
try {
  for (const [path, id] of Object.entries(job.expected)) {
    const stat = statSync(path, { bigint: true });
    if (stat.dev + ":" + stat.ino !== id) throw new Error("the file was replaced meanwhile; try again");
  }
  const Database = require(job.libsql);
  const db = new Database(job.file, { timeout: 5000 });
  if (job.kind === "query") {
    db.exec("PRAGMA query_only = 1");
    const statement = db.prepare(job.sql);
    const columns = statement.columns().map((c) => c.name);
    if (columns.length === 0) throw new Error("this statement returns no rows; database_execute runs statements that change something");
    answer({ ok: true, columns, ...take(statement, 200) });
  } else {
    // The journal is a mount of its own here: it can be emptied, not removed.
    if (db.prepare("PRAGMA journal_mode").raw().all()[0][0] !== "wal") db.exec("PRAGMA journal_mode = TRUNCATE");
    if (job.before !== undefined) db.exec("ATTACH DATABASE '" + job.before.replaceAll("'", "''") + "' AS before");
    const start = one(db, "SELECT total_changes()");
    db.exec("BEGIN IMMEDIATE");
    try {
      db.exec(job.sql);
      const changes = one(db, "SELECT total_changes()") - start;
      const tables = job.kind === "preview" ? compare(db) : [];
      db.exec(job.kind === "preview" ? "ROLLBACK" : "COMMIT");
      if (job.kind === "execute") try { db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); } catch {}
      db.close();
      answer({ ok: true, changes, tables });
    } catch (error) {
      try { db.exec("ROLLBACK"); } catch {}
      throw error;
    }
  }
} catch (error) {
  answer({ ok: false, message: String(error && error.message ? error.message : error) });
}
`;
