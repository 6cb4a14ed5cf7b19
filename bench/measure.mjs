// Programs timed from start to end, one after the other in turns, so that a busy moment of the machine hits all of them alike.
import { spawnSync } from "node:child_process";

/** rows: { name, command: [program, ...args], cwd, env, before? } → the median in milliseconds of each, in the same order. */
export function medians(rows, runs) {
  const times = rows.map(() => []);
  for (let turn = -1; turn < runs; turn++) {
    rows.forEach((row, i) => {
      row.before?.();
      const ms = once(row);
      // The first turn only warms the disk cache up.
      if (turn >= 0) times[i].push(ms);
    });
  }
  return times.map(median);
}

function once({ name, command: [program, ...args], cwd, env }) {
  const start = process.hrtime.bigint();
  const { status, signal, error } = spawnSync(program, args, { cwd, env, stdio: ["ignore", "ignore", "ignore"], timeout: 120_000 });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (error !== undefined || status !== 0) throw new Error(`${name} ended with ${error?.message ?? signal ?? `exit code ${status}`}`);
  return ms;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The first row is the floor that the others are compared with: `bar` as a ratio, `over` in milliseconds. */
export function printTable(title, rows, times) {
  const lines = rows.map(({ name, bar, over, note }, i) => {
    const ratio = times[i] / times[0];
    const limit = bar !== undefined ? `<= ${bar}x` : over !== undefined ? `<= +${over} ms` : "";
    const verdict = limit === "" ? "" : ratio <= (bar ?? Infinity) && times[i] - times[0] <= (over ?? Infinity) ? "PASS" : "over";
    return [name, `${times[i].toFixed(1)} ms`, `${ratio.toFixed(2)}x`, limit, verdict, note ?? ""];
  });
  const all = [["what", "median", "ratio", "bar", "", ""], ...lines];
  const widths = all[0].map((_, column) => Math.max(...all.map((line) => line[column].length)));
  console.log(`\n${title}`);
  for (const line of all) console.log(`  ${line.map((cell, column) => (column === 0 || column > 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join("  ").trimEnd()}`);
}
