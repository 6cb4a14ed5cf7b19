#!/usr/bin/env node
// Speaks as the Claude CLI does, as much and as fast as its first message says: {"lines": n} at once, or {"lines": n, "perSecond": r} with the time in each.
import { createInterface } from "node:readline";

if (process.argv.includes("--version")) {
  console.log("2.1.325 (bench)");
  process.exit(0);
}
const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const say = (i, text) => send({ type: "assistant", message: { id: `m${i}`, role: "assistant", model: "bench", content: [{ type: "text", text }] }, parent_tool_use_id: null, session_id: "s", uuid: `u${i}` });
const words = "an ordinary line of an agent that says what it does and why, about as long as such lines are in a real session. ";

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.type !== "user") return;
  const { lines, perSecond } = JSON.parse(message.message.content);
  const start = performance.now();
  for (let i = 0; i < lines; i++) {
    if (perSecond === undefined) {
      // A program that does not wait for its reader would fill its own memory.
      if (!say(i, `${i} ${words}`)) await new Promise((drained) => process.stdout.once("drain", drained));
      continue;
    }
    const wait = start + (i * 1000) / perSecond - performance.now();
    if (wait > 0) await new Promise((next) => setTimeout(next, wait));
    say(i, `${process.hrtime.bigint()} ${words}`);
  }
  send({ type: "result", subtype: "success", is_error: false, result: "done", num_turns: 1 });
}).on("close", () => process.exit(0));
