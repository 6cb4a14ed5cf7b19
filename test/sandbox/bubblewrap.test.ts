import { describe, expect, it } from "vitest";
import { bubblewrapArgs } from "../../src/sandbox/bubblewrap.ts";
import type { HostFacts, SandboxSpec } from "../../src/sandbox/spec.ts";

const facts: HostFacts = {
  uid: 1234,
  roots: [{ path: "/usr" }, { path: "/bin", link: "usr/bin" }, { path: "/lib64" }],
  toolchain: ["/opt/node"],
  masked: ["/opt/node/etc/npmrc"],
  protected: [{ name: ".git", real: "/home/u/p/.git" }, { name: ".coven", real: "/home/u/p/.coven" }],
};
const spec: SandboxSpec = { workspace: "/home/u/p", writable: true, home: "/home/u" };
const line = (s: Partial<SandboxSpec> = {}, f: Partial<HostFacts> = {}) => ` ${bubblewrapArgs({ ...spec, ...s }, { ...facts, ...f }, ["/bin/sh", "-c", "x"]).join(" ")} `;

describe("bubblewrapArgs", () => {
  it("always unshares everything, drops every capability and dies with its parent", () => {
    for (const flag of ["--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop ALL", "--die-with-parent", "--new-session"]) expect(line()).toContain(` ${flag} `);
    expect(line()).not.toContain("--share-net");
    expect(line()).not.toContain("--setenv");
  });

  it("is a normal user inside when it is root outside", () => {
    expect(line({}, { uid: 0 })).toContain(" --uid 1000 --gid 1000 ");
    expect(line()).not.toContain("--uid");
  });

  it("shows top folders as they are: links as links, folders read-only", () => {
    expect(line()).toContain(" --ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /lib64 /lib64 ");
  });

  it("puts folders in memory first, then what is bound below them, and closes the root last", () => {
    const order = ["--tmpfs /home/u ", "--ro-bind-try /opt/node /opt/node", "--ro-bind /dev/null /opt/node/etc/npmrc", "--bind /home/u/p /home/u/p", "--ro-bind /home/u/p/.git /home/u/p/.git", "--remount-ro /run", "--remount-ro / "];
    const places = order.map((part) => line().indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("makes only what was agreed to writable among the protected paths", () => {
    expect(line({ allowProtected: [".git"] })).not.toContain("--ro-bind /home/u/p/.git ");
    expect(line({ allowProtected: [".git"] })).toContain("--ro-bind /home/u/p/.coven ");
  });

  it("binds the workspace read-only when it may not be written", () => {
    expect(line({ writable: false })).toContain(" --ro-bind /home/u/p /home/u/p ");
    expect(line({ writable: false })).not.toContain(" --bind ");
  });

  it("binds further paths as they are asked for", () => {
    const binds = [{ from: "/a" }, { from: "/b", to: "/c", writable: true }, { from: "/d", optional: true }];
    expect(line({ binds })).toContain(" --ro-bind /a /a --bind /b /c --ro-bind-try /d /d ");
  });

  it("shows certificates, and not the keys beside them", () => {
    expect(line()).toContain(" --ro-bind-try /etc/ssl/certs /etc/ssl/certs ");
    expect(line()).not.toMatch(/ \/etc\/(?:ssl|pki|pki\/tls) /);
  });

  it("does not cover the root when there is no home", () => {
    expect(line({ home: "/" })).toContain(" --tmpfs /home/agent ");
  });
});
