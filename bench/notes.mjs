// 20,000 notes: indexing over listing and reading them, time of a query, memory. Alone: `node bench/notes.mjs`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTES = 20_000;
const RUNS = 5;
const QUERIES = 200;

/** Rows `{ name, value, bar, pass }`, values as text. */
export async function notesRows() {
  const folder = mkdtempSync(join(tmpdir(), "cru-bench-notes-"));
  try {
    const project = join(folder, "project");
    writeNotes(project);
    execFileSync("git", ["init", "-q", project]);
    execFileSync("git", ["-C", project, "add", "-A"]);
    const kiln = join(folder, "kiln.mjs");
    await build({ entryPoints: [join(root, "src/kiln/open-kiln.ts")], outfile: kiln, bundle: true, format: "esm", platform: "node", target: "node20", logLevel: "error" });
    const worker = join(folder, "worker.mjs");
    writeFileSync(worker, WORKER);
    const once = (task) => {
      if (task === "index") rmSync(join(folder, "cache"), { recursive: true, force: true });
      const args = [worker, task, project, pathToFileURL(kiln).href, join(folder, "cache"), join(root, "assets/word-vectors/words.bin"), join(root, "test/kiln/queries.json"), String(QUERIES)];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 20 }));
    };
    const runs = { read: [], index: [], query: [] };
    for (let turn = -1; turn < RUNS; turn++) for (const task of Object.keys(runs)) if (turn < 0) once(task); else runs[task].push(once(task));
    const read = median(runs.read.map((r) => r.ms));
    const index = median(runs.index.map((r) => r.ms));
    const query = (field) => median(runs.query.map((r) => r[field]));
    const memory = Math.max(...runs.index.map((r) => r.mb), ...runs.query.map((r) => r.mb));
    return [
      { name: `list and read ${NOTES} notes`, value: `${read.toFixed(0)} ms` },
      { name: "index them, over reading them", value: `${index.toFixed(0)} ms = ${(index / read).toFixed(2)}x`, bar: "<= 6x", pass: index / read <= 6 },
      { name: "query, p95", value: `${query("p95").toFixed(1)} ms (median ${query("p50").toFixed(1)})`, bar: "<= 25 ms", pass: query("p95") <= 25 },
      { name: "most memory while indexing or searching", value: `${memory.toFixed(0)} MB`, bar: "<= 200 MB", pass: memory <= 200 },
      { name: "open the kept index", value: `${query("open").toFixed(0)} ms` },
      { name: "refresh when nothing has changed", value: `${query("refresh").toFixed(0)} ms` },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prose of the retrieval set, sentences shuffled: words as frequent and as rare as people write them. */
function writeNotes(project) {
  let state = 20_000;
  const random = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const folder = join(root, "test/kiln/corpus");
  const text = readdirSync(folder).sort().map((name) => readFileSync(join(folder, name), "utf8").replace(/^@@ .*$/gm, "").replace(/^---\n[\s\S]*?\n---\n/gm, "")).join("\n");
  const titles = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title]) => title);
  const sentences = text.replace(/^#.*$/gm, "").split(/(?<=[.:])\s+/).map((s) => s.trim().replace(/\s+/g, " ")).filter((s) => s.length > 20);
  for (let i = 0; i < NOTES; i++) {
    const parts = [`---\ntags: [t${random(50)}]\n---\n# ${titles[random(titles.length)]} ${i}\n`];
    for (let section = 0; section < 3; section++) {
      parts.push(`\n## ${titles[random(titles.length)]}\n`);
      for (let s = 0; s < 5; s++) parts.push(`${sentences[random(sentences.length)]} `);
      parts.push(`See \`step_${random(5000)}\`.\n`);
    }
    const path = join(project, `area-${i % 200}`);
    if (i < 200) mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `note-${i}.md`), parts.join(""));
  }
}

const WORKER = `
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
const [task, root, kiln, cacheFolder, wordVectors, queries, count] = process.argv.slice(2);
const done = (result) => console.log(JSON.stringify({ ...result, mb: process.resourceUsage().maxRSS / 1000 }));
if (task === "read") {
  const start = performance.now();
  const listed = execFileSync("git", ["-C", root, "ls-files", "-co", "--exclude-standard", "-z", "--", "*.md"], { encoding: "utf8", maxBuffer: 64 << 20 });
  let length = 0;
  for (const path of listed.split("\\0")) if (path !== "") length += readFileSync(root + "/" + path, "utf8").length;
  done({ ms: performance.now() - start, length });
} else {
  const { openKiln } = await import(kiln);
  const start = performance.now();
  const opened = openKiln({ root, gitDir: root + "/.git", cacheFolder, wordVectors });
  const open = performance.now() - start;
  await opened.refresh();
  const ms = performance.now() - start;
  if (task === "index") done({ ms });
  else {
    const { keyword, paraphrase } = JSON.parse(readFileSync(queries, "utf8"));
    const texts = [...keyword, ...paraphrase].map(([text]) => text);
    const times = [];
    for (let i = -20; i < Number(count); i++) {
      const from = performance.now();
      await opened.search(texts[(i + 20) % texts.length], { limit: 10 });
      if (i >= 0) times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    done({ ms, open, refresh: ms - open, p50: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)] });
  }
}
`;

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

export async function notesLines() {
  return (await notesRows()).map(({ name, value, bar = "", pass }) => `${name.padEnd(42)}${value.padEnd(28)}${bar.padEnd(12)}${pass === undefined ? "" : pass ? "PASS" : "over"}`.trimEnd());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await notesLines()).join("\n"));
