import { expect, it } from "vitest";
import type { Answer } from "../../../src/contract/question.ts";
import type { Ask, AskInput, Asked } from "../../../src/contract/runner.ts";
import { answered } from "../../support/loop.ts";
import { mcpPlace } from "../../support/mcp.ts";

function asking(...answers: Asked[]): { ask: Ask; asked: AskInput[] } {
  const asked: AskInput[] = [];
  const ask: Ask = async (question) => {
    asked.push(question);
    return answers.shift() ?? { kind: "suspended", inboxId: "i1" };
  };
  return { ask, asked };
}

async function answersOf(ask: Ask | undefined, schema?: unknown): Promise<{ reply: unknown; notes: string[] }> {
  const { server, connect } = mcpPlace();
  const { call } = await connect({ s: server("good") }, { mode: "off", ...(ask === undefined ? {} : { ask }) });
  const [first = "", ...notes] = (await call("mcp__s__ask", schema === undefined ? {} : { schema })).output.split("\n");
  return { reply: JSON.parse(first), notes };
}

it("a server's question is a question of the inbox, shown inert, and its answer goes back", async () => {
  const { ask, asked } = asking(answered("blue"));
  expect(await answersOf(ask)).toEqual({ reply: { action: "accept", content: { colour: "blue" } }, notes: [] });
  expect(asked).toEqual([{
    key: "call-mcp__s__ask-mcp-1", kind: "question", title: 'The MCP server "s" asks: Which ␛[31mcolour?', body: "colour (red | blue)", options: ["red", "blue"], reversible: true, action: null,
  }]);
});

it("nobody there, and a no, are declined, and the model is told", async () => {
  const declined = { reply: { action: "decline" }, notes: ["(the server asked the user something, and got no answer)"] };
  expect(await answersOf(asking().ask)).toEqual(declined);
  expect(await answersOf(asking(answered("", "deny")).ask)).toEqual(declined);
});

it("an answer that does not fit is asked about again, three times at most", async () => {
  const { ask, asked } = asking(answered("green"), answered("red"));
  expect((await answersOf(ask)).reply).toEqual({ action: "accept", content: { colour: "red" } });
  expect(asked[1]).toMatchObject({ key: "call-mcp__s__ask-mcp-1-2", body: 'The last answer did not fit: colour expected one of "red", "blue"\ncolour (red | blue)' });
  const never = asking(answered("a"), answered("b"), answered("c"), answered("red"));
  expect((await answersOf(never.ask)).reply).toEqual({ action: "decline" });
  expect(never.asked).toHaveLength(3);
});

it.each([
  ["approved", { ok: { type: "boolean" } }, answered("", "approve"), { ok: true }],
  ["no", { ok: { type: "boolean" } }, answered("no"), { ok: false }],
  ["a number", { n: { type: "integer" } }, answered("7"), { n: 7 }],
  ["lines", { n: { type: "integer" }, s: { type: "string" } }, answered("n=7\ns=a = b"), { n: 7, s: "a = b" }],
  ["JSON", { n: { type: "integer" }, s: { type: "string" } }, answered('{"n":7,"s":"x","z":1}'), { n: 7, s: "x" }],
  ["--set", { n: { type: "integer" }, s: { type: "string" } }, set({ n: "7", s: "x" }), { n: 7, s: "x" }],
  ["nothing to fill in", {}, answered("go ahead"), {}],
])("an answer is read as the server wants it: %s", async (_, properties, answer, content) => {
  const schema = { type: "object", properties, required: Object.keys(properties) };
  expect((await answersOf(asking(answer).ask, schema)).reply).toEqual({ action: "accept", content });
});

it("an agent that can ask nobody declines; each agent of a session asks its own", async () => {
  expect((await answersOf(undefined)).reply).toEqual({ action: "decline" });
  const { server, connect, workspace } = mcpPlace();
  const primary = asking();
  const child = asking(answered("blue"));
  const { toolsFor } = await connect({ s: server("good") }, { mode: "off", ask: primary.ask });
  const tool = toolsFor(child.ask).find((t) => t.name === "mcp__s__ask")!;
  const { output } = await tool.run({} as never, { workspace, callId: "c", signal: new AbortController().signal, emit: () => {} });
  expect([JSON.parse(output), child.asked.length, primary.asked.length]).toEqual([{ action: "accept", content: { colour: "blue" } }, 1, 0]);
});

it("the time of a call stands still while a person is asked", async () => {
  const { server, connect } = mcpPlace();
  const ask: Ask = () => new Promise((resolve) => setTimeout(() => resolve(answered("red")), 3000));
  const { call } = await connect({ s: server("good") }, { mode: "off", ask, limits: { callMs: 2500 } });
  expect(JSON.parse((await call("mcp__s__ask")).output)).toEqual({ action: "accept", content: { colour: "red" } });
});

function set(values: Record<string, unknown>): Asked {
  const { answer } = answered("", "approve") as { answer: Answer };
  return { kind: "answered", answer: { ...answer, set: values } };
}
