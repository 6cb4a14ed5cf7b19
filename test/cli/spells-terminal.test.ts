import { describe, expect, it } from "vitest";
import type { Run } from "../../src/cli/command.ts";
import { run as list } from "../../src/cli/commands/spells-list.ts";
import { run as render } from "../../src/cli/commands/spells-render.ts";
import { run as show } from "../../src/cli/commands/spells-show.ts";
import { machine } from "../support/cru.ts";

const files = {
  ".coven/spells/evil.md": "\u001b[2Jgone \u202egnp.exe {{.v}}",
  ".coven/spells/\u001b[31mred.md": "x",
};

async function onTerminal(run: Run, args: string[], options: Record<string, unknown> = {}): Promise<{ out: string; err: string }> {
  const { project, home } = machine({ project: files });
  const written = { out: "", err: "" };
  const io = { out: (t: string) => void (written.out += t), err: (t: string) => void (written.err += t), outIsTerminal: true, errIsTerminal: true, inIsTerminal: true, columns: 100 };
  await run({ args, options, cwd: project, env: { HOME: home, NO_COLOR: "1" }, io });
  return written;
}

describe("spells on a terminal", () => {
  it("shows a source and a result in which nothing can act", async () => {
    expect((await onTerminal(show, ["evil"])).out).toBe("␛[2Jgone <U+202E>gnp.exe {{.v}}");
    expect((await onTerminal(render, ["evil"], { var: ["v=\u001b]0;title\u0007"] })).out).toBe("␛[2Jgone <U+202E>gnp.exe ␛]0;title␇\n");
  });

  it("lists in columns, names made harmless", async () => {
    const { out, err } = await onTerminal(list, []);
    expect(out).toMatch(/^NAME +SOURCE +PATH\n/);
    expect(out).toMatch(/\nevil +project \(untrusted\) +\.coven\/spells\/evil\.md\n/);
    expect(out + err).not.toContain("\u001b");
    expect(err).toContain("is not a usable name for a spell");
  });
});
