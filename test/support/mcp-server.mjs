// A small MCP server for tests: JSON-RPC, one message a line, over stdin and stdout. Its first argument says how it behaves.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const mode = process.argv[2] ?? "good";
const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const text = (words, more = {}) => ({ content: [{ type: "text", text: words }], ...more });

const GOOD = {
  add: { description: "Adds two numbers", inputSchema: object({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]), annotations: { readOnlyHint: true }, run: ({ a, b }) => text(String(a + b)) },
  fail: { description: "Fails", inputSchema: object(), run: () => text("no such thing", { isError: true }) },
  refuse: { inputSchema: object(), error: { code: -32602, message: "refused \u001b[31mred" } },
  read: { inputSchema: object({ path: { type: "string" } }), run: ({ path }) => text(attempt(() => readFileSync(path, "utf8"))) },
  write: { inputSchema: object({ path: { type: "string" }, text: { type: "string" } }), run: ({ path, text: words }) => text(attempt(() => (writeFileSync(path, words), "written"))) },
  environment: { inputSchema: object(), run: () => text(JSON.stringify(process.env)) },
  pid: { inputSchema: object(), run: () => text(String(process.pid)) },
  child: { inputSchema: object({ word: { type: "string" } }), run: ({ word }) => (spawn("/bin/sh", ["-c", "trap '' TERM HUP; while :; do sleep 1; done", word], { detached: true, stdio: "ignore" }).unref(), text("started")) },
  fetch: { inputSchema: object({ url: { type: "string" } }), run: async ({ url }) => text(await fetch(url).then((r) => r.text(), (e) => `no network: ${e.cause?.code ?? e.message}`)) },
  hang: { inputSchema: object(), run: () => new Promise(() => {}) },
  crash: { inputSchema: object(), run: () => (process.stderr.write("out of cheese\n"), process.exit(3)) },
  huge: { inputSchema: object({ bytes: { type: "number" } }), run: ({ bytes }) => text(`first${"x".repeat(bytes)}last`) },
  garbage: { inputSchema: object(), raw: (id) => process.stdout.write(`this is not JSON\n[1,2]\n{"jsonrpc":"2.0","id":${id},"result":"a string"}\n`) },
  parts: {
    inputSchema: object(),
    run: () => ({
      content: [
        { type: "text", text: "words" },
        { type: "image", mimeType: "image/png", data: "AAAA" },
        { type: "resource", resource: { uri: "file:///a", text: "inside" } },
        { type: "resource", resource: { uri: "file:///b", mimeType: "x/y", blob: "AAAAAAAA" } },
        { type: "resource_link", name: "n", uri: "file:///c" },
        { type: "dance" },
        7,
      ],
    }),
  },
  structured: { inputSchema: object(), run: () => ({ content: [], structuredContent: { n: 1 } }) },
  ask: {
    inputSchema: object({ schema: {} }),
    run: async ({ schema }) => text(JSON.stringify(await request("elicitation/create", { mode: "form", message: "Which \u001b[31mcolour?", requestedSchema: schema ?? object({ colour: { type: "string", enum: ["red", "blue"] } }, ["colour"]) }))),
  },
};

const HOSTILE = [
  { name: "same", description: "first", inputSchema: object() },
  { name: "same", description: "second", inputSchema: object() },
  { name: "a.b", description: "\u001b[2Jclear \u202e reversed \u{e0041}", inputSchema: { ...object({ x: { type: "string", description: "\u001b[31mred" } }), anyOf: [{ required: ["x"] }] } },
  { name: "a b", inputSchema: object() },
  { name: "__proto__", inputSchema: JSON.parse('{"type":"object","properties":{"x":{"type":"object","properties":{"__proto__":{"type":"string"}}}}}') },
  { name: "long".repeat(40), inputSchema: object() },
  { name: "proto-argument", inputSchema: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') },
  { name: "no-object", inputSchema: { type: "string" } },
  { name: "no-schema" },
  { name: "odd-argument", inputSchema: object({ "a b": { type: "string" } }) },
  { name: "big", inputSchema: object({ x: { type: "string", default: "y".repeat(70_000) } }) },
  { name: "loose", inputSchema: { type: "object", properties: { x: { type: "strng", pattern: "(", minimum: "1", items: [{ type: "string" }], $ref: "http://127.0.0.1/" } }, required: "x", $schema: "x" } },
  { name: 7, inputSchema: object() },
  { name: "wordy", description: "w".repeat(100_000), inputSchema: object() },
  null,
];

let next = 1;
const waiting = new Map();

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function request(method, params) {
  const id = `s${next++}`;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return `error ${error.code}`;
  }
}

function listing(cursor) {
  if (mode === "hostile") return { tools: HOSTILE };
  if (mode === "many") return { tools: Array.from({ length: 100 }, (_, i) => ({ name: `t${cursor ?? 0}-${i}`, inputSchema: object() })), nextCursor: String(Number(cursor ?? 0) + 1) };
  return { tools: Object.entries(GOOD).map(([name, { description, inputSchema, annotations }]) => ({ name, description, inputSchema, annotations })) };
}

async function answer({ id, method, params }) {
  if (method === "initialize") return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "test", version: "1" } } });
  if (method === "tools/list") return mode === "mute-list" ? undefined : send({ id, result: listing(params?.cursor) });
  if (method !== "tools/call") return send({ id, error: { code: -32601, message: "Method not found" } });
  const tool = Object.hasOwn(GOOD, params.name) ? GOOD[params.name] : { run: () => text(`called ${params.name}`) };
  if (tool.error !== undefined) return send({ id, error: tool.error });
  if (tool.raw !== undefined) return tool.raw(id);
  send({ id, result: await tool.run(params.arguments ?? {}) });
}

if (mode === "exit") {
  process.stderr.write("cannot start: \u001b[31mno key sk-secret-of-the-server\n");
  process.exit(7);
}
if (mode === "stubborn") process.on("SIGTERM", () => {});
if (mode === "once" && existsSync("started")) process.exit(9);
if (mode === "once") attempt(() => writeFileSync("started", ""));
process.stdout.write("a line of log that does not belong here\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  if (mode === "mute") return;
  if (mode === "noise") return void process.stdout.write("noise\n");
  if (mode === "flood") return void process.stdout.write("x".repeat(1 << 20));
  const message = JSON.parse(line);
  if (message.method === undefined) return waiting.get(message.id)?.(message.result ?? message.error);
  if (message.id !== undefined) void answer(message);
});
if (mode === "stubborn" || mode === "mute") setInterval(() => {}, 1000);
