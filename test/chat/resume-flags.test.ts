import { expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";

const ASKS = { tools: [{ name: "ask_user", input: { question: "which?" }, id: "q" }] };

/** A chat that asks, the answer, and the session taken up again without any flag. */
async function resumed(flags: string[], ...replies: object[]): Promise<{ box: Awaited<ReturnType<typeof chatMachine>>; code: number }> {
  const box = await chatMachine({ rules: [{ match: {}, by: "turn", replies: [ASKS, ...replies] }] } as Parameters<typeof chatMachine>[0]);
  expect((await box.chat(["go", ...flags])).code).toBe(4);
  const { items } = JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { id: string }[] };
  const { code } = await box.cru(["inbox", "answer", items[0]?.id ?? "", "this", "--resume"], { env: box.env });
  return { box, code };
}

it("a session that is taken up again still lacks the rights that its start denied", async () => {
  const { box, code } = await resumed(["--deny", "Shell"], { text: "done" });
  expect(code).toBe(0);
  const offered = box.requests.map((r) => JSON.stringify(r.body).includes('"run_command"'));
  expect(offered).toEqual([false, false]);
});

it("and has the limits that its start gave", async () => {
  const list = (id: string): object => ({ tools: [{ name: "list_files", input: { pattern: id }, id }] });
  const { box, code } = await resumed(["--max-iterations", "3", "--budget", "4.5"], list("a"), list("b"), list("c"), { text: "too late" });
  expect(code).toBe(4);
  const turns = box.session().events.flatMap((e) => (e.type === "session.turn" ? [e.conditions] : []));
  expect(turns).toMatchObject([1, 2].map(() => ({ settings: { loop: { max_iterations: 3 }, limits: { budget_usd: 4.5 } } })));
});
