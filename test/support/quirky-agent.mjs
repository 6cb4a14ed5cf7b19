#!/usr/bin/env node
// An ACP agent that does whatever its prompt says: `js:CODE` runs CODE. Its first argument is JSON: what it says of itself and how it opens sessions.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const options = JSON.parse(process.argv[2] ?? "{}");
const heard = [];
const waiting = new Map();
let sessionId = options.session ?? "s-1";
let number = 0;
let onCancel = () => {};

const raw = (text) => process.stdout.write(text);
const send = (message) => raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (kind, rest) => send({ method: "session/update", params: { sessionId, update: { sessionUpdate: kind, ...rest } } });
const say = (text, messageId) => update("agent_message_chunk", { content: { type: "text", text }, ...(messageId === undefined ? {} : { messageId }) });
/** The answer as it came: `{result}` or `{error}`. */
const ask = (method, params, id = `q${++number}`) => new Promise((resolve) => {
  waiting.set(id, ({ result, error }) => resolve(error === undefined ? { result } : { error }));
  send({ id, method, params: { sessionId, ...params } });
});
const OPTIONS = [["never", "reject_always"], ["nope", "reject_once"], ["forever", "allow_always"], ["fine", "allow_once"]].map(([optionId, kind]) => ({ optionId, kind, name: optionId }));
const permission = async (toolCall, choices = OPTIONS) => {
  const { result, error } = await ask("session/request_permission", { toolCall: { toolCallId: `c${++number}`, ...toolCall }, options: choices });
  return error?.message ?? result.outcome.optionId ?? result.outcome.outcome;
};
const finish = (summary = "done") => say(`Finished.\n\n\`\`\`json\n${JSON.stringify({ success: true, summary })}\n\`\`\``);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const forever = () => new Promise(() => setInterval(() => {}, 1000));

const obey = Object.getPrototypeOf(async () => {}).constructor;

async function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return { protocolVersion: 1, agentInfo: { name: "quirky", version: "1.2.3" }, agentCapabilities: {}, ...options.initialize };
    case "session/new":
      return { sessionId, ...options.opened };
    case "session/load":
    case "session/resume":
      if (options.lost) return { error: { code: -32002, message: "Resource not found" } };
      sessionId = params.sessionId;
      if (method === "session/load") say("this was said before");
      return { ...options.opened };
    case "session/prompt": {
      const text = params.prompt[0].text;
      const code = text.includes("js:") ? text.slice(text.indexOf("js:") + 3) : (options.otherwise ?? "finish(prompt)");
      const names = { heard, raw, send, update, say, ask, permission, finish, sleep, forever, prompt: text, onCancel: (listener) => (onCancel = listener), note: (line) => appendFileSync("notes.txt", `${line}\n`) };
      const end = await new obey(...Object.keys(names), code)(...Object.values(names));
      return typeof end === "object" ? end : { stopReason: end ?? "end_turn" };
    }
    default:
      return {};
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  heard.push(message);
  if (message.method === undefined) return waiting.get(message.id)?.(message);
  if (message.method === "session/cancel") return onCancel();
  if (message.id === undefined) return undefined;
  const result = await answer(message);
  send({ id: message.id, ...(result.error === undefined ? { result } : { error: result.error }) });
}).on("close", () => (options.stays ? undefined : process.exit(0)));
