import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostFacts, insidePath } from "../../src/sandbox/host-facts.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function place() {
  const top = temporaryFolder();
  const [home, workspace] = [join(top, "home"), join(top, "home", "project")];
  for (const folder of [
    "home/project/node_modules/.bin", "home/project/bin", "home/.nvm/versions/node/v20/bin", "home/.cargo/bin", "home/.rustup", "home/.secrets/bin", "opt/tool/bin", "main/node_modules/.bin",
  ]) mkdirSync(join(top, folder), { recursive: true });
  const facts = (path: string[], node = "/usr/bin/node") => hostFacts({ workspace, writable: true, home }, { path: path.join(":"), node, uid: 1 });
  return { top, home, workspace, facts };
}

describe("hostFacts", () => {
  it("shows tools that PATH uses, and nothing else of a home", () => {
    const { top, home, facts } = place();
    const path = [join(home, ".nvm/versions/node/v20/bin"), join(home, ".cargo/bin"), join(home, ".secrets/bin"), join(top, "opt/tool/bin"), "/srv/.cargo", "/home/other/bin", "/usr/bin", "/bin", "/", "relative", join(home, "none")];
    expect(facts(path).toolchain).toEqual([join(home, ".nvm/versions"), join(home, ".cargo/bin"), join(home, ".rustup"), join(top, "opt/tool")]);
  });

  it("never shows a folder that holds the home or the workspace, nor the programs of a project", () => {
    const { top, home, workspace, facts } = place();
    expect(facts([top, home, join(workspace, "bin"), join(top, "main/node_modules/.bin"), join(top, "bin")]).toolchain).toEqual([]);
  });

  it("shows node's own folder where it is not under /usr", () => {
    const { top, home, facts } = place();
    expect(facts([], join(home, ".nvm/versions/node/v20/bin/node")).toolchain).toEqual([join(home, ".nvm/versions/node/v20")]);
    expect(facts([], join(top, "opt/tool/bin/node")).toolchain).toEqual([join(top, "opt/tool")]);
  });

  it("of a tool manager shows programs and libraries, not its own repository and files", () => {
    const { home, facts } = place();
    writeFiles(home, { ".pyenv/shims/python": "", ".pyenv/versions/3.12/bin/python": "", ".pyenv/version": "3.12", ".pyenv/.git/config": "url = https://token@x", ".pyenv/notes.txt": "", ".fnm/node-versions/v20/x": "", ".fnm/private": "" });
    expect(facts([join(home, ".pyenv/shims"), join(home, ".fnm")]).toolchain).toEqual([".pyenv/shims", ".pyenv/versions", ".pyenv/version", ".fnm/node-versions"].map((name) => join(home, name)));
  });

  it("masks files that may hold a login, by the path under which they would be seen", () => {
    const { top, home, facts } = place();
    writeFiles(home, {
      ".nvm/versions/node/v20/etc/npmrc": "token", ".pyenv/versions/3.12/pip.conf": "token", ".cargo/bin/.env": "token", ".cargo/credentials.toml": "token", ".npmrc": "token", "elsewhere/npmrc": "token",
    });
    writeFiles(top, { "opt/tool/.npmrc": "token", "data/versions/3.9/pip.conf": "token" });
    mkdirSync(join(home, ".nvm/versions/node/v22/etc"), { recursive: true });
    symlinkSync(join(home, ".npmrc"), join(home, ".nvm/versions/node/v22/etc/npmrc"));
    symlinkSync(join(home, ".nvm/versions/node/v20/etc"), join(top, "opt/tool/etc"));
    symlinkSync(join(top, "data"), join(home, ".rbenv"));
    const masked = facts([".nvm/versions/node/v20/bin", ".pyenv/shims", ".cargo/bin", ".rbenv/shims"].map((name) => join(home, name)).concat(join(top, "opt/tool/bin"))).masked.filter((path) => path.startsWith(top));
    expect(masked.toSorted()).toEqual([".cargo/bin/.env", ".nvm/versions/node/v20/etc/npmrc", ".pyenv/versions/3.12/pip.conf", ".rbenv/versions/3.9/pip.conf"].map((name) => join(home, name)).concat(join(top, "opt/tool/.npmrc")).toSorted());
  });

  it("gives PATH in the user's order without what is not visible or belongs to the workspace", () => {
    const { top, home, workspace, facts } = place();
    const path = [join(workspace, "bin"), join(top, "opt/tool/bin"), join(home, ".secrets/bin"), "/usr/bin"];
    expect(insidePath({ workspace, writable: true, home }, facts(path), path.join(":"))).toBe(`${join(top, "opt/tool/bin")}:/usr/bin:/usr/local/bin:/bin`);
  });

  it("protects what a protected name leads to inside the workspace", () => {
    const { workspace, facts } = place();
    writeFiles(workspace, { "real-git/config": "", ".mcp.json": "{}" });
    symlinkSync("real-git", join(workspace, ".git"));
    symlinkSync("/etc", join(workspace, ".claude"));
    expect(facts([]).protected).toEqual([{ name: ".git", real: join(workspace, "real-git") }, { name: ".mcp.json", real: join(workspace, ".mcp.json") }]);
  });
});
