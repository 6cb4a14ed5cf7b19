import { describe, expect, it } from "vitest";
import { scripted } from "../support/scripted.ts";

type Event = { type: string; [field: string]: unknown };

const ASK = { model: "claude-x", max_tokens: 10, stream: true, system: [{ type: "text", text: "You are tested" }], messages: [{ role: "user", content: "hi" }] };

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: typeof body === "string" ? body : JSON.stringify(body) });
}

function eventsOf(text: string): Event[] {
  return text
    .split("\n\n")
    .filter((frame) => frame.includes("data: {"))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as Event);
}

describe("the scripted model", () => {
  it("streams a reply in the order and shape of the Anthropic wire", async () => {
    const server = await scripted([{ thinking: "hm", text: "Hello", tools: [{ name: "Bash", input: { command: "ls" }, id: "t1" }], chunk_chars: 3, usage: { input: 1, cache_read: 2, cache_write: 3, output: 4 } }]);
    const response = await post(`${server.url}/v1/messages?beta=true`, ASK, { "x-api-key": "k" });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const events = eventsOf(await response.text());
    expect(events[0]).toMatchObject({ type: "message_start", message: { role: "assistant", model: "claude-x", usage: { input_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3 } } });
    const kinds = events.map((e) => (e.type === "content_block_delta" ? (e.delta as Event).type : e.type));
    expect(kinds.filter((k, i) => k !== kinds[i - 1])).toEqual([
      "message_start", "ping",
      "content_block_start", "thinking_delta", "signature_delta", "content_block_stop",
      "content_block_start", "text_delta", "content_block_stop",
      "content_block_start", "input_json_delta", "content_block_stop",
      "message_delta", "message_stop",
    ]);
    expect(events.flatMap((e) => ((e.delta as Event | undefined)?.type === "input_json_delta" ? [(e.delta as Event).partial_json] : [])).join("")).toBe('{"command":"ls"}');
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 4 } });
    expect(server.requests).toMatchObject([{ key: "k", system: "You are tested", users: ["hi"], model: "claude-x", turns: 0, outcome: "sent", rule: "script" }]);
  });

  it("answers a call that does not stream, and what agent programs ask besides", async () => {
    const server = await scripted([{ text: "Hi", tools: [{ name: "Bash", input: { command: "ls" } }] }, { text: "Hi" }]);
    const whole = await (await post(`${server.url}/v1/messages`, { ...ASK, stream: false })).json();
    expect(whole).toMatchObject({ type: "message", stop_reason: "tool_use", content: [{ type: "text", text: "Hi" }, { type: "tool_use", name: "Bash", input: { command: "ls" } }] });
    const chat = await (await post(`${server.url}/v1/chat/completions`, { model: "m", messages: [{ role: "user", content: "x" }] }, { authorization: "Bearer tok" })).json();
    expect(chat).toMatchObject({ object: "chat.completion", choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] });
    expect(server.requests[1]).toMatchObject({ key: "tok", wire: "openai" });
    expect((await fetch(server.url, { method: "HEAD" })).status).toBe(200);
    expect(await (await post(`${server.url}/v1/messages/count_tokens?beta=true`, ASK)).json()).toMatchObject({ input_tokens: expect.any(Number) });
    expect((await fetch(`${server.url}/v1/models`)).status).toBe(200);
    expect((await post(`${server.url}/v1/nothing`, {})).status).toBe(404);
    expect((await post(`${server.url}/v1/messages`, "{broken")).status).toBe(400);
    expect(server.requests).toHaveLength(2);
  });

  it("a rule matches by system, first, last and any user text, model and tool, and has its own counter", async () => {
    const server = await scripted({
      rules: [
        { name: "by tool", match: { tool: "special" }, replies: [{ text: "tool" }] },
        { name: "by system", match: { system: "reviewer" }, replies: [{ text: "review 1" }, { text: "review 2" }] },
        { name: "by result", match: { last_user: "tool says 42" }, replies: [{ text: "result" }] },
        { name: "by task", match: { first_user: "task A", model: "opus" }, replies: [{ text: "task" }], repeat_last: true },
      ],
    });
    const say = async (body: object) => ((await (await post(`${server.url}/v1/messages`, { ...ASK, stream: false, ...body })).json()) as { content?: { text: string }[]; error?: { message: string } });
    const text = async (body: object) => (await say(body)).content?.[0]?.text;
    expect(await text({ system: "a reviewer" })).toBe("review 1");
    expect(await text({ tools: [{ name: "special" }], system: "a reviewer" })).toBe("tool");
    expect(await text({ system: [{ type: "text", text: "the reviewer" }] })).toBe("review 2");
    expect(await text({ messages: [{ role: "user", content: "x" }, { role: "assistant", content: "y" }, { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "tool says 42" }] }] }] })).toBe("result");
    expect(await text({ model: "claude-opus", messages: [{ role: "user", content: "task A" }] })).toBe("task");
    expect(await text({ model: "claude-opus", messages: [{ role: "user", content: "task A" }] })).toBe("task");
    expect((await say({ system: "a reviewer" })).error?.message).toContain("by system of the script has 2 replies; this is request 3");
    expect((await say({ system: "nobody" })).error?.message).toContain("no rule of the script matches");
    expect(server.requests.map((r) => r.outcome).slice(-2)).toEqual(["unmatched", "unmatched"]);
  });

  it("by turn, the conversation itself chooses the reply", async () => {
    const server = await scripted({ rules: [{ match: {}, by: "turn", replies: [{ text: "one" }, { text: "two" }] }] });
    const at = async (turns: number) => {
      const messages = [{ role: "user", content: "x" }, ...Array.from({ length: turns }, () => [{ role: "assistant", content: "a" }, { role: "user", content: "b" }]).flat()];
      return ((await (await post(`${server.url}/v1/messages`, { ...ASK, stream: false, messages })).json()) as { content: { text: string }[] }).content[0]!.text;
    };
    expect([await at(1), await at(0), await at(1)]).toEqual(["two", "one", "two"]);
  });

  it("a computed reply sees the request and its number; a fault in it is told to the client", async () => {
    const server = await scripted((request, call) => {
      if (call === 1) throw new Error("script bug");
      return { text: `${call} ${request.users[0]}` };
    });
    const body = { ...ASK, stream: false };
    expect(await (await post(`${server.url}/v1/messages`, body)).json()).toMatchObject({ content: [{ text: "0 hi" }] });
    const second = await post(`${server.url}/v1/messages`, body);
    expect([second.status, await second.text()]).toEqual([400, expect.stringContaining("script bug")]);
  });

  it("a typing error in a script is found at once", async () => {
    await expect(scripted([{ txt: "x" } as never])).rejects.toThrow(/txt/);
    await expect(scripted({ rules: [{ match: { sytem: "x" }, replies: [] } as never] })).rejects.toThrow(/sytem/);
  });

  it("close ends hanging calls at once", async () => {
    const server = await scripted(() => ({ fault: { kind: "hang", after_events: 0 } }));
    const pending = post(`${server.url}/v1/messages`, ASK);
    const seen = pending.then(() => "answered", () => "closed");
    await server.arrived(1);
    await server.close();
    expect(await seen).toBe("closed");
  });
});
