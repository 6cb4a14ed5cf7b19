import { describe, expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";

describe("cru chat --continue", () => {
  it("goes on with the newest conversation of the project", async () => {
    const box = await chatMachine({ rules: [{ match: {}, by: "call", replies: ["one", "two", "three"].map((text) => ({ text })) }] });
    await box.chat(["an older question"]);
    await box.chat(["what is this?"]);
    const newest = box.sessions().find((id) => id.includes("what-is-this"));
    expect(await box.chat(["-c", "and that?"])).toMatchObject({ code: 0, stdout: "three\n" });
    expect(box.requests[2]?.users).toEqual(["what is this?", "and that?"]);
    expect(box.sessions()).toHaveLength(2);
    expect(box.session(newest).events.filter((e) => e.type === "session.turn")).toHaveLength(2);
  });

  it("says so when there is none", async () => {
    const box = await chatMachine([]);
    const none = await box.chat(["--continue", "and that?"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("no conversation to go on with")]);
  });
});
