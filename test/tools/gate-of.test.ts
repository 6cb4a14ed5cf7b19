import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gateOf } from "../../src/tools/gate-of.ts";
import { temporaryFolder } from "../support/temp.ts";

const tool = (name: string, needs: readonly ("Shell" | "NetworkAccess" | "DatabaseWrite" | "FilesystemRead")[] = []) => ({ name, needs });
const command = (text: string, sandboxed = true, writes?: string[]) => gateOf(tool("run_command"), { command: text, writes }, { workspace: "/none", sandboxed });

describe("gateOf", () => {
  it("lets writes in the workspace pass, and asks for protected paths whatever their spelling", () => {
    const workspace = temporaryFolder();
    mkdirSync(join(workspace, ".git"));
    symlinkSync(".git", join(workspace, "g"));
    const asks = (path: string) => gateOf(tool("write_file"), { path, content: "" }, { workspace, sandboxed: true }).ask;
    expect(["a.txt", "src/x.ts", ".github/x"].filter(asks)).toEqual([]);
    expect([".git/config", ".GIT/x", "g/hooks/x", ".coven/x", ".crucible/agents/a.md", ".claude/s", ".mcp.json", ".beads/x"].filter((path) => !asks(path))).toEqual([]);
  });

  it("lets commands pass in the sandbox, and asks for each one without", () => {
    const free = ["npm test", "ls -la .git", "git status", "git diff HEAD~1", "git log --oneline", "git branch --show-current", "git branch -a", "git stash list", "cat .git/config", "git config --get user.name", "grep -r push .", "gh pr view 3", "git remote -v", "echo x > out.txt"];
    expect(free.filter((text) => command(text).ask)).toEqual([]);
    expect(command("ls", false)).toMatchObject({ ask: true, reversible: false });
  });

  it("asks for commands that change protected paths", () => {
    const asked = ["git commit -m x", "git -C sub add .", "npm test && git commit -am 'x'", "git checkout -b y", "git branch new", "git stash", "echo x > .git/hooks/pre-commit", "rm -rf .crucible", "cp a .coven/x", "bd close 3", "sed -i s/a/b/ .claude/settings.json", "/usr/bin/git tag v1", "git \\\n commit"];
    expect(asked.filter((text) => !command(text).ask)).toEqual([]);
    expect(command("make release", true, [".git"])).toMatchObject({ ask: true, reversible: true, reason: "the command may change .git" });
  });

  it("knows what cannot be taken back", () => {
    const forever = ["git push", "git push origin main", "cd x && git -C y push -f", "gh pr create --fill", "gh pr merge 3", "npm publish", "cargo publish", "docker push x", "terraform apply", "curl -X POST http://x", "curl --data a=b http://x", "g\"\"it pu'sh'"];
    expect(forever.filter((text) => command(text).reversible)).toEqual([]);
  });

  it("asks for network and database writes, not for database reads", () => {
    const place = { workspace: "/none", sandboxed: true };
    expect(gateOf(tool("fetch_url"), { url: "http://x" }, place)).toMatchObject({ ask: true, reversible: true });
    expect(gateOf(tool("database_execute"), { path: "a.db", sql: "" }, place)).toMatchObject({ ask: true, reversible: false });
    expect(gateOf(tool("database_query"), { path: "a.db", sql: "" }, place).ask).toBe(false);
    expect(gateOf(tool("read_file"), { path: ".git/config" }, place).ask).toBe(false);
  });

  it("judges foreign tools by their rights, and does not stumble over odd input", () => {
    const place = { workspace: "/none", sandboxed: true };
    expect(gateOf(tool("mcp_x", ["NetworkAccess"]), null, place).ask).toBe(true);
    expect(gateOf(tool("mcp_x", ["FilesystemRead"]), null, place).ask).toBe(false);
    const asks = { reason: "there is no sandbox", reversible: false };
    expect(gateOf({ ...tool("mcp_x", ["FilesystemRead"]), asks }, null, place)).toEqual({ ask: true, ...asks });
    expect(gateOf(tool("run_command"), null, place).ask).toBe(false);
    expect(gateOf(tool("write_file"), { path: 3 }, place).ask).toBe(false);
  });
});
