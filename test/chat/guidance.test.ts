import { describe, expect, it } from "vitest";
import { chatMachine, type ChatMachine } from "../support/chat.ts";

type Script = Parameters<typeof chatMachine>[0];

const call = (name: string, input: unknown, id: string): object => ({ tools: [{ name, input, id }] });
const plan = (id: string, ...tasks: string[]): object => call("update_plan", { tasks: tasks.map((description, i) => ({ id: `t${i}`, description })) }, id);
const turns = (...replies: object[]): Script => ({ rules: [{ match: {}, by: "turn", replies }] }) as Script;

async function pending(box: ChatMachine): Promise<{ id: string; kind: string; title: string; body: string }> {
  const { items } = JSON.parse((await box.cru(["inbox", "list", "--json", "--pending"])).stdout) as { items: { id: string; kind: string; title: string; body: string }[] };
  if (items.length !== 1 || items[0] === undefined) throw new Error(`${items.length} items wait`);
  return items[0];
}

/** The plans of a session, each as its descriptions. */
const plans = (box: ChatMachine): string[][] => box.session().events.flatMap((e) => (e.type === "agent.plan" ? [e.tasks.map((t) => t.description)] : []));

describe("guidance without a terminal", () => {
  it("[PAOR-5.1.1] a correction that is said to an unfinished session goes into the next request, and the next plan shows it", async () => {
    const box = await chatMachine(turns(
      plan("p1", "search everywhere"),
      call("ask_user", { question: "Is there more I should know?" }, "q"),
      plan("p2", "search only in src/utils"),
      { text: "found it in src/utils" },
    ));
    expect((await box.chat(["find the bug"])).code).toBe(4);
    // Not the answer to its question: a correction. The question still waits.
    expect((await box.chat(["--resume", box.session().id, "search only in src/utils"])).code).toBe(4);
    await box.cru(["inbox", "answer", (await pending(box)).id, "no"]);
    const done = await box.chat(["--resume", box.session().id]);
    expect([done.code, done.stdout]).toEqual([0, "found it in src/utils\n"]);
    const next = box.requests.find((r) => r.turns === 2);
    expect(next?.users.at(-1)).toContain("Guidance from the user: search only in src/utils");
    expect(plans(box)).toEqual([["search everywhere"], ["search only in src/utils"]]);
  });

  it("[PAOR-5.2.1] [PAOR-7.2.1] a stuck loop pauses and asks; the alternative is in the next request and the next plan", async () => {
    const stuck = [1, 2, 3].map((n) => call("get_agent", { name: "nobody" }, `g${n}`));
    const box = await chatMachine(turns(plan("p1", "ask nobody"), ...stuck, plan("p2", "use the explore agent instead"), { text: "done with explore" }));
    expect((await box.chat(["find it"])).code).toBe(4);
    const item = await pending(box);
    expect(item).toMatchObject({ kind: "guidance", title: expect.stringContaining("three times with the same result") });
    expect(item.body).toContain("ask nobody");
    const done = await box.cru(["inbox", "answer", item.id, "use the explore agent instead", "--resume"], { env: box.env });
    expect([done.code, done.stdout]).toEqual([0, "done with explore\n"]);
    expect(box.requests.find((r) => r.turns === 4)?.users.at(-1)).toContain("Guidance from the user: use the explore agent instead");
    expect(plans(box).at(-1)).toEqual(["use the explore agent instead"]);
    const guided = box.session().events.findIndex((e) => e.type === "session.guidance");
    const replanned = box.session().events.findIndex((e, at) => at > guided && e.type === "agent.plan");
    expect([guided > 0, replanned > guided]).toEqual([true, true]);
  });

  it("an agent that needs a decision asks for it, and a no stops the work with its reason", async () => {
    const box = await chatMachine(turns(call("reflect", { goal_achieved: false, progress: "half", content: "two ways", needs_user: "Rewrite it or patch it?" }, "r"), { text: "never" }));
    expect((await box.chat(["mend it"])).code).toBe(4);
    const item = await pending(box);
    expect(item).toMatchObject({ kind: "guidance", title: "Rewrite it or patch it?" });
    const stopped = await box.cru(["inbox", "deny", item.id, "--reason", "leave it alone", "--resume"], { env: box.env });
    expect([stopped.code, stopped.stderr]).toEqual([4, expect.stringContaining("leave it alone")]);
    expect(box.requests).toHaveLength(1);
  });
});
