import { describe, expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";

const definition = (extra: string, permissions = "[]"): Record<string, string> => ({
  ".config/crucible/agents/writer.md": `---\nname: writer\ndescription: writes\nmodel: haiku\npermissions: ${permissions}\n${extra}---\nPROMPT-OF-writer\n`,
});
const primary = { match: { system: "primary agent of Crucible" }, by: "turn" as const, replies: [{ tools: [{ name: "spawn_agent", input: { agent: "writer", task: "write a poem" }, id: "t1" }] }, { text: "done" }] };
const critique = (pass: boolean, score: number, words: string): object => ({ text: `Looking…\n\`\`\`json\n${JSON.stringify({ pass, score, critique: words, improvement: `mend: ${words}` })}\n\`\`\`` });
/** Attempts and critiques come in turn. */
const rules = (...replies: object[]): object => ({ rules: [primary, { match: { system: "PROMPT-OF-writer" }, replies }] });
const REFLECTING = "enable_reflection: true\nreflection_criteria: |\n  - Does it rhyme?\n";

async function run(extra: string, ...replies: object[]): Promise<{ box: Awaited<ReturnType<typeof chatMachine>>; head: Record<string, unknown>; body: string; told: string; calls: number }> {
  const box = await chatMachine(rules(...replies) as Parameters<typeof chatMachine>[0], { home: definition(extra) });
  const { code, stderr } = await box.chat(["poem please"]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { head, body } = box.session().child("writer");
  return { box, head, body, told: box.requests.at(-1)?.users.at(-1) ?? "", calls: box.requests.filter((r) => r.system.includes("PROMPT-OF-writer")).length };
}

describe("reflection of subagents", () => {
  it("[CRU-14.1.1] [CRU-14.1.2] [CRU-14.2.1] [CRU-14.2.2] judges its own output by its criteria and tries again with what was wrong", async () => {
    const { box, head, told, calls } = await run(REFLECTING, { text: "no rhyme" }, critique(false, 0.2, "line two does not rhyme"), { text: "it rhymes" }, critique(true, 0.9, "fine"));
    expect([calls, head.status]).toEqual([4, "completed"]);
    const mine = box.requests.filter((r) => r.system.includes("PROMPT-OF-writer"));
    expect(mine[1]?.users[0]).toContain("- Does it rhyme?");
    expect(mine[1]?.users[0]).toContain("no rhyme");
    expect(mine[2]?.users[0]).toContain("line two does not rhyme");
    expect(told).toContain("it rhymes");
  });

  it("[CRU-14.2.3] [CRU-14.2.4] [CRU-14.2.5] the improved output is returned, and each round is in the result's metadata", async () => {
    const { head, body } = await run(REFLECTING, { text: "first" }, critique(false, 0.3, "too short"), { text: "second, longer" }, critique(true, 1, "good"));
    expect(head.reflection).toEqual([
      { attempt: 1, pass: false, score: 0.3, critique: "too short", improvement: "mend: too short" },
      { attempt: 2, pass: true, score: 1, critique: "good", improvement: "mend: good" },
    ]);
    expect(body).toContain("second, longer");
  });

  it("[CRU-14.1.3] one retry is the default, and max_retries the limit", async () => {
    const bad = critique(false, 0.1, "bad");
    expect((await run(REFLECTING, { text: "1" }, bad, { text: "2" }, bad)).calls).toBe(4);
    expect((await run(`${REFLECTING}max_retries: 0\n`, { text: "1" }, bad)).calls).toBe(2);
    expect((await run(`${REFLECTING}max_retries: 2\n`, { text: "1" }, bad, { text: "2" }, bad, { text: "3" }, bad)).calls).toBe(6);
  });

  it("[CRU-14.1.4] [CRU-14.3.1] [CRU-14.3.2] [CRU-14.3.3] off by default: one call, no judgement, no cost", async () => {
    const { calls, head } = await run("", { text: "only once", usage: { input: 10, output: 5 } });
    expect([calls, head.reflection, head.tokens]).toEqual([1, [], { input: 10, output: 5 }]);
  });

  it("[CRU-14.4.1] [CRU-14.4.2] [CRU-14.4.3] without success the best attempt comes back as partial, with every round, and the parent is told", async () => {
    const { head, told, body } = await run(`${REFLECTING}max_retries: 2\n`, { text: "AAA" }, critique(false, 0.4, "a"), { text: "BBB" }, critique(false, 0.7, "b"), { text: "CCC" }, critique(false, 0.5, "c"));
    expect(head.status).toBe("partial");
    expect((head.reflection as { score: number }[]).map((r) => r.score)).toEqual([0.4, 0.7, 0.5]);
    expect(body).toContain("BBB");
    expect(told).toContain("BBB");
    expect(told).toContain("Reflection did not reach its criteria in 3 attempts");
  });

  it("[CRU-14.2.5] taken up again in the middle of its second attempt, it knows the first, and tries no more often", async () => {
    const write = { tools: [{ name: "write_file", input: { path: "poem.md", content: "x" }, id: "w" }] };
    const bad = critique(false, 0.2, "still bad");
    const box = await chatMachine(rules({ text: "first" }, critique(false, 0.3, "too short"), write, { text: "second" }, bad, { text: "third" }, bad) as Parameters<typeof chatMachine>[0], {
      home: definition(`${REFLECTING}requires_approval: [write_file]\n`, "[FilesystemWrite]"),
    });
    expect((await box.chat(["poem please"])).code).toBe(4);
    const { items } = JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { id: string }[] };
    expect((await box.cru(["inbox", "approve", items[0]?.id ?? "", "--resume"], { env: box.env })).code).toBe(0);
    const { head, body } = box.session().child("writer");
    expect(head.status).toBe("partial");
    expect(head.reflection).toMatchObject([{ attempt: 1, score: 0.3 }, { attempt: 2, score: 0.2 }]);
    expect(body).toContain("first");
  });

  it("a critique that cannot be read counts as not passed; of equal scores the latest is best", async () => {
    const { head, body } = await run(REFLECTING, { text: "AAA" }, { text: "looks good to me" }, { text: "BBB" }, { text: "{broken" });
    expect([head.status, (head.reflection as { pass: boolean }[]).map((r) => r.pass)]).toEqual(["partial", [false, false]]);
    expect(body).toContain("BBB");
  });
});
