import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serverProgram } from "../../../src/tools/mcp/server-program.ts";
import { temporaryFolder, writeFiles } from "../../support/temp.ts";

function place(files: { home?: Record<string, string>; workspace?: Record<string, string>; tools?: Record<string, string> } = {}) {
  const [home, workspace, tools] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  writeFiles(home, files.home ?? {});
  writeFiles(workspace, files.workspace ?? {});
  writeFiles(tools, { "bin/npx": "", "bin/serve": "", "bin/node": "", ...files.tools });
  for (const name of ["npx", "serve", "node"]) chmodSync(join(tools, "bin", name), 0o755);
  const at = { home, workspace, path: `${join(workspace, "bin")}:${join(tools, "bin")}` };
  return { ...at, tools, find: (command: string, args: string[] = []) => serverProgram({ command, args }, at) };
}

describe("a program", () => {
  it("is looked for on PATH, never in the workspace's part of it, and its folder is shown", () => {
    const { find, tools, workspace } = place({ workspace: { "bin/serve": "" } });
    chmodSync(join(workspace, "bin", "serve"), 0o755);
    expect(find("serve", ["--x"])).toEqual({ ok: true, command: [join(tools, "bin", "serve"), "--x"], shown: [join(tools, "bin")] });
    expect(find("missing")).toMatchObject({ ok: false });
  });

  it("of the workspace needs nothing more to be shown; a folder or a file that cannot be run is none", () => {
    const { find, workspace } = place({ workspace: { "bin/serve": "", "plain.txt": "" } });
    chmodSync(join(workspace, "bin", "serve"), 0o755);
    expect(find("bin/serve")).toEqual({ ok: true, command: [join(workspace, "bin", "serve")], shown: [] });
    for (const command of ["./plain.txt", "./bin", "/etc/passwd/x"]) expect(find(command)).toEqual({ ok: false, why: `${command} is not a program` });
  });

  it("a script is shown with its package, a link with what it leads to, and a home never as a whole", () => {
    const { find, tools, home } = place({ tools: { "mine/package.json": "{}", "mine/src/a.js": "", "lib/node_modules/p/cli.js": "" }, home: { "direct.js": "", "package.json": "{}" } });
    const shown = (script: string): unknown => find("node", [script]).ok && (find("node", [script]) as { shown: string[] }).shown.filter((path) => path !== join(tools, "bin"));
    expect(shown(join(tools, "mine/src/a.js"))).toEqual([join(tools, "mine")]);
    expect(shown(join(home, "direct.js"))).toEqual([join(home, "direct.js")]);
    mkdirSync(join(tools, "links"));
    symlinkSync(join(tools, "lib/node_modules/p/cli.js"), join(tools, "links", "p"));
    expect(shown(join(tools, "links", "p"))).toEqual([join(tools, "links"), join(tools, "lib/node_modules")]);
  });

  it("arguments that are no script show nothing", () => {
    const { find, tools, home } = place({ home: { "notes.txt": "" } });
    expect(find("serve", [join(home, "notes.txt")])).toMatchObject({ shown: [join(tools, "bin")] });
  });
});

describe("npx", () => {
  const manifest = (version: string): string => JSON.stringify({ name: "@scope/server", version, bin: { server: "cli.js" } });

  it("starts the installed package itself; nothing is asked of a registry", () => {
    const { find, tools } = place({ tools: { "lib/node_modules/@scope/server/package.json": manifest("1.2.3"), "lib/node_modules/@scope/server/cli.js": "" } });
    const entry = join(tools, "lib/node_modules/@scope/server/cli.js");
    for (const spec of ["@scope/server", "@scope/server@latest", "@scope/server@1.2.3"]) {
      expect(find("npx", ["-y", spec, "--stdio"])).toEqual({ ok: true, command: [process.execPath, entry, "--stdio"], shown: [join(tools, "lib/node_modules")] });
    }
  });

  it("takes npx's own cache too, but never a package of the workspace or another exact version", () => {
    const { find, home } = place({
      home: { ".npm/_npx/abc/node_modules/@scope/server/package.json": manifest("1.0.0"), ".npm/_npx/abc/node_modules/@scope/server/cli.js": "" },
      workspace: { "node_modules/local/package.json": '{"bin":"x.js"}', "node_modules/local/x.js": "" },
    });
    expect(find("npx", ["@scope/server@1.0.0"])).toMatchObject({ ok: true, shown: [join(home, ".npm/_npx/abc/node_modules")] });
    expect(find("npx", ["@scope/server@2.0.0"])).toEqual({ ok: false, why: "the npm package @scope/server@2.0.0 is not installed, and nothing is downloaded; install it: npm install -g @scope/server@2.0.0" });
    expect(find("npx", ["-y", "local"])).toMatchObject({ ok: false });
  });

  it("a package whose program lies elsewhere, or that cannot be read, is none", () => {
    const { find } = place({ tools: { "lib/node_modules/out/package.json": '{"bin":"../../../bin/serve"}', "lib/node_modules/bad/package.json": "{" } });
    expect(find("npx", ["out"])).toMatchObject({ ok: false });
    expect(find("npx", ["bad"])).toMatchObject({ ok: false });
  });

  it.each([[[]], [["-y"]], [["-c", "echo"]], [["--package", "x", "y"]], [["../x"]], [["git+ssh://x"]]])("understands only the plain form: %j", (args) => {
    expect(place().find("npx", args)).toMatchObject({ ok: false, why: expect.stringContaining("npx -y PACKAGE") });
  });
});
