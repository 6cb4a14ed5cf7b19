import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitAll } from "../../src/worktree/commit-all.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { detectSetup } from "../../src/worktree/detect-setup.ts";
import { setUpWorktree, type SetupInput } from "../../src/worktree/set-up-worktree.ts";
import { testRepository } from "../support/repository.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

async function place(files: Record<string, string>, exit = 0) {
  const box = testRepository({ "a.txt": "a\n", ...files });
  const repository = await box.open();
  const worktree = await createWorktree({ bead: "app-1" }, repository);
  const ran: (readonly string[])[] = [];
  const setUp = (input: Partial<SetupInput> = {}) =>
    setUpWorktree(worktree, { setup: "auto", copy: [], network: false, ...input }, {
      repository,
      runSandboxed: async (command) => {
        ran.push(command);
        return { code: exit, stdout: "said\n", stderr: "ENOTCACHED no network\n", timedOut: false, notFound: false };
      },
    });
  return { ...box, repository, worktree, ran, setUp };
}

describe("setUpWorktree", () => {
  it.each([
    [["package-lock.json", "package.json"], ["npm"]],
    [["package-lock.json", "pnpm-lock.yaml"], ["pnpm"]],
    [["yarn.lock", "package-lock.json", "uv.lock", "requirements.txt", "Cargo.lock"], ["yarn", "uv", "cargo"]],
    [["requirements.txt"], ["sh"]],
    [["package.json", "README.md"], []],
  ])("of %j auto finds %j", (files, tools) => {
    expect(detectSetup(new Set(files)).map((s) => s.command[0])).toEqual(tools);
  });

  it("runs once per worktree and lockfile", async () => {
    const { setUp, ran, worktree } = await place({ "package-lock.json": "{}", "Cargo.lock": "" });
    expect(await setUp({ network: true })).toMatchObject({ status: "done", ran: ["npm ci --no-audit --no-fund", "cargo fetch --locked"] });
    expect(await setUp({ network: true })).toMatchObject({ status: "already", ran: [] });
    writeFiles(worktree.path, { "package-lock.json": "{ }" });
    expect(await setUp({ network: true })).toMatchObject({ status: "done" });
    expect(ran).toHaveLength(4);
    expect(await setUp({ setup: "none" })).toMatchObject({ status: "nothing" });
    expect(await setUp({ setup: ["echo $X", "true"] })).toMatchObject({ status: "done", ran: ["echo $X", "true"] });
    expect(ran.slice(4)).toEqual([["/bin/sh", "-c", "echo $X"], ["/bin/sh", "-c", "true"]]);
  });

  it("without a network takes what is on the machine, and says what it could not do", async () => {
    const npm = await place({ "package-lock.json": "{}" }, 1);
    expect(await npm.setUp()).toMatchObject({ status: "unavailable", reason: expect.stringContaining("could not do without the network: ENOTCACHED") });
    expect(npm.ran).toEqual([["npm", "ci", "--no-audit", "--no-fund", "--offline"]]);
    const yarn = await place({ "yarn.lock": "" });
    expect(await yarn.setUp()).toMatchObject({ status: "unavailable", ran: [], reason: expect.stringContaining("needs the network") });
    const own = await place({}, 3);
    expect(await own.setUp({ setup: "make deps" })).toMatchObject({ status: "failed", reason: expect.stringContaining("ended with 3") });
    expect(await own.setUp({ setup: "make deps" })).toMatchObject({ status: "failed" });
  });

  it("copies files once, never commits them, and reaches nothing outside", async () => {
    const { setUp, root, worktree, repository, git } = await place({});
    const outside = temporaryFolder();
    writeFiles(outside, { secret: "canary" });
    writeFiles(root, { ".env": "KEY=1\n", "conf/local ü.json": "{}", ".git/info/exclude": ".env\nconf\nlink\n" });
    symlinkSync(join(outside, "secret"), join(root, "link"));
    const copy = [".env", "conf/local ü.json", "a.txt", "link", "../x", join(outside, "secret"), "missing", "conf"];
    const result = await setUp({ copy });
    expect(result.copied).toEqual([".env", "conf/local ü.json"]);
    expect(result.problems.map((p) => p.split(":")[0])).toEqual(["link", "../x", join(outside, "secret"), "missing"]);
    expect(existsSync(join(worktree.path, "link"))).toBe(false);
    writeFiles(worktree.path, { ".env": "KEY=2\n", "work.txt": "w" });
    writeFiles(root, { ".git/info/exclude": "" });
    expect((await setUp({ copy: [".env"] })).copied).toEqual([]);
    expect(readFileSync(join(worktree.path, ".env"), "utf8")).toBe("KEY=2\n");
    const { commit } = await commitAll(worktree, { subject: "s" }, repository);
    expect(git("show", "--name-only", "--format=", commit)).toBe("work.txt\n");
  });
});
