#!/usr/bin/env node
// Stands in for the CLI where a test needs an agent that does whatever its input says: a shell command, or with `js:` code inside this very process.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

if (process.argv.includes("--version")) {
  console.log("2.1.325 (obedient)");
  process.exit(0);
}
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const say = (text) => send({ type: "assistant", message: { id: "m", role: "assistant", model: "obedient", content: [{ type: "text", text }] }, parent_tool_use_id: null });
const finish = (text, more = {}) => send({ type: "result", subtype: "success", is_error: false, result: text, ...more });
const answers = [];
const listeners = [];
const heard = () => new Promise((resolve) => (answers.length > 0 ? resolve(answers.shift()) : listeners.push(resolve)));

const lines = createInterface({ input: process.stdin });
lines.on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.type === "control_response") {
    const next = listeners.shift();
    if (next === undefined) answers.push(message);
    else next(message);
  }
  if (message.type !== "user") return;
  const order = message.message.content;
  if (order.startsWith("js:")) {
    const AsyncFunction = (async () => {}).constructor;
    await new AsyncFunction("send", "say", "finish", "heard", "spawn", order.slice(3))(send, say, finish, heard, spawn);
  } else {
    const child = spawn("/bin/sh", ["-c", order], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("exit", () => setTimeout(() => finish(output), 50));
  }
});
lines.on("close", () => process.exit(0));
