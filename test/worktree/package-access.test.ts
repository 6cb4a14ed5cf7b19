import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Env } from "../../src/config/paths.ts";
import { packageAccess } from "../../src/worktree/package-access.ts";
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
