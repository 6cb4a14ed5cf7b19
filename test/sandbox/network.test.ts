import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { expect, it, onTestFinished } from "vitest";
import { runProgram } from "../../src/lib/subprocess.ts";
import type { Refusal } from "../../src/sandbox/admit-host.ts";
import { listenPrivately } from "../../src/sandbox/private-socket.ts";
import { runSandboxed, type SandboxedOptions } from "../../src/sandbox/run-sandboxed.ts";
import type { SandboxNetwork } from "../../src/sandbox/spec.ts";
import { echoServer, webServer } from "../support/network.ts";
import { until } from "../support/processes.ts";
import { program } from "../support/program.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

type Options = Omit<SandboxNetwork, "hosts"> & Partial<SandboxedOptions>;

async function run(code: string, hosts: readonly string[], { intranet = [], resolve, ...options }: Options = {}) {
  const refused: Refusal[] = [];
  const workspace = temporaryFolder();
  writeFiles(workspace, { "p.mjs": PRELUDE + code });
  const network = { hosts, intranet, onRefused: (refusal: Refusal) => refused.push(refusal), ...(resolve === undefined ? {} : { resolve }) };
  const result = await runSandboxed({ workspace, writable: true, home: temporaryFolder(), network }, ["node", "p.mjs"], { mode: "required", ...options });
  return { ...result, refused, lines: result.stdout.split("\n").filter((line) => line !== "") };
}

/** What a hostile program needs: raw bytes to any port, and requests the way a polite program makes them. */
const PRELUDE = `
import { connect } from "node:net";
import { get as httpGet } from "node:http";
const raw = (port, bytes, host = "127.0.0.1") => new Promise((resolve) => {
  let heard = "";
  const socket = connect({ port, host }, () => socket.write(bytes));
  const done = (word) => resolve(heard === "" ? word : heard);
  socket.on("data", (data) => (heard += data)).on("end", () => done("end")).on("error", (error) => done(error.code));
});
const status = async (port, bytes, host) => /HTTP\\/1.1 (\\d+)/.exec(await raw(port, bytes, host))?.[1] ?? "none";
const tunnel = (target, then) => raw(3128, "CONNECT " + target + " HTTP/1.1\\r\\n\\r\\n" + then);
const plain = (url) => raw(3128, "GET " + url + " HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n");
const direct = (port, host) => new Promise((resolve) => connect({ port, host }, () => resolve("connected")).on("error", (error) => resolve(error.code)));
const print = (...words) => console.log(words.join(" "));
`;

describeSandboxed("a sandbox with open hosts", () => {
  it("reaches a listed host through the proxy that every variable names", async () => {
    const web = await webServer("web");
    const { lines, refused } = await run(
      `for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) print(process.env[name]);
       print(process.env.NODE_USE_ENV_PROXY, process.env.NO_PROXY === process.env.no_proxy);
       print((await plain("http://open.example:${web.port}/p")).includes("web GET /p"));
       print((await tunnel("open.example:${web.port}", "GET /t HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n")).includes("web GET /t"));`,
      [`open.example:${web.port}`, `127.0.0.1:${web.port}`],
      { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
    );
    expect(lines).toEqual([...Array.from({ length: 4 }, () => "http://127.0.0.1:3128"), "1 true", "true", "true"]);
    expect([web.seen.map(({ url }) => url), refused]).toEqual([["/p", "/t"], []]);
  });

  it("a port of this machine that is listed is the same port inside, for any protocol", async () => {
    const [echo, other] = [await echoServer(), await echoServer()];
    const { lines } = await run(`const s = connect(${echo.port}, "127.0.0.1"); s.end("any protocol"); s.on("data", (d) => print(String(d))).on("close", async () => print(await direct(${other.port}, "127.0.0.1")));`, [`localhost:${echo.port}`]);
    expect(lines).toEqual(["any protocol", "ECONNREFUSED"]);
    await until(() => echo.open.size === 0);
    expect(other.open.size).toBe(0);
  });

  it("keeps its own loopback: a server of the command's own is reached without the proxy", async () => {
    const { lines } = await run(`import { createServer } from "node:http"; const s = createServer((q, r) => r.end("own")).listen(0, () => httpGet({ port: s.address().port }, (r) => r.on("data", (d) => print(String(d))).on("end", () => s.close())));`, ["open.example"]);
    expect(lines).toEqual(["own"]);
  });

  it("a hostile program reaches nothing else: names, addresses, ports, this machine, the proxy's own socket", async () => {
    const secret = await webServer("secret");
    const open = await webServer("open");
    const { lines, refused, stderr } = await run(
      `const GET = "GET / HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n";
       for (const target of ["localhost:${secret.port}", "127.0.0.1:${secret.port}", "[::1]:${secret.port}", "0.0.0.0:${secret.port}", "evil.example:${secret.port}", "inner.example:443", "8.8.8.8:53", "open.example:22"]) print("connect", await status(3128, "CONNECT " + target + " HTTP/1.1\\r\\n\\r\\n" + GET));
       for (const url of ["http://localhost:${secret.port}/", "http://127.0.0.1:${secret.port}/", "http://2130706433:${secret.port}/", "http://[::ffff:127.0.0.1]:${secret.port}/", "http://inner.example/", "http://localhost:${open.port}@localhost:${secret.port}/"]) print("absolute", await status(3128, "GET " + url + " HTTP/1.1\\r\\nhost: localhost:${open.port}\\r\\nconnection: close\\r\\n\\r\\n"));
       print("origin", await status(3128, "GET / HTTP/1.1\\r\\nhost: localhost:${secret.port}\\r\\nconnection: close\\r\\n\\r\\n"));
       print("inside a tunnel to the wrong host", (await tunnel("localhost:${open.port}", "GET / HTTP/1.1\\r\\nhost: localhost:${secret.port}\\r\\nconnection: close\\r\\n\\r\\n")).includes("secret"));
       print("direct", await direct(${secret.port}, "127.0.0.1"), await direct(${secret.port}, "::1"), await direct(443, "8.8.8.8"), await direct(80, "evil.example"));
       print("through the sockets", (await import("node:fs")).readdirSync("/run/crucible").join(" "));
       process.exit();`,
      [`localhost:${open.port}`, "open.example", "inner.example"],
      { resolve: async (host) => (host === "inner.example" ? [{ address: "127.0.0.1", family: 4 }] : [{ address: "8.8.8.8", family: 4 }]) },
    );
    expect(stderr).toBe("");
    expect(lines.filter((line) => /^(?:connect|absolute|origin)/.test(line)).filter((line) => !/ 40[03]$/.test(line))).toEqual([]);
    expect(lines.filter((line) => /^(?:connect|absolute|origin)/.test(line))).toHaveLength(15);
    expect(lines.slice(15)).toEqual([
      "inside a tunnel to the wrong host false",
      expect.stringMatching(/^direct ECONNREFUSED (?:ECONNREFUSED|EADDRNOTAVAIL) ENETUNREACH E\w+$/),
      `through the sockets ${["agent.json", "relay-3128.sock", `relay-${open.port}.sock`].sort().join(" ")}`,
    ]);
    expect([secret.connections(), secret.seen]).toEqual([0, []]);
    expect(refused.map(({ host }) => host)).toEqual(expect.arrayContaining(["evil.example:" + secret.port, "8.8.8.8:53", "inner.example", "open.example:22"]));
  });

  it("a port that leads to the agent's model stays that when it is listed too", async () => {
    const echo = await echoServer();
    const model = await listenPrivately(createServer((client) => void client.end("model")));
    onTestFinished(() => model.close());
    const spec = { workspace: temporaryFolder(), writable: true, home: temporaryFolder(), relays: [{ port: echo.port, socket: model.socket }], network: { hosts: [`localhost:${echo.port}`] } };
    const heard = await runSandboxed(spec, ["node", "-e", `require("net").connect(${echo.port}, "127.0.0.1").on("data", (d) => process.stdout.write(d))`], { mode: "required" });
    expect(heard).toMatchObject({ code: 0, stdout: "model" });
  });

  it("leaves no connection and no socket, also when it is killed in the middle", async () => {
    const echo = await echoServer();
    const before = folders();
    const controller = new AbortController();
    const running = run(`connect(${echo.port}, "127.0.0.1", function () { this.write("x"); }); connect(3128, "127.0.0.1", function () { this.write("CONNECT localhost:${echo.port} HTTP/1.1\\r\\n\\r\\nx"); });`, [`localhost:${echo.port}`], { signal: controller.signal });
    await until(() => echo.open.size === 2);
    controller.abort();
    expect((await running).aborted).toBe(true);
    await until(() => echo.open.size === 0);
    expect(folders().filter((name) => !before.includes(name))).toEqual([]);
  });

  it("certificates that the user's programs believe are seen, a file with a key is not", async () => {
    const folder = temporaryFolder();
    writeFiles(folder, { "ca.pem": "-----BEGIN CERTIFICATE-----\nx\n", "both.pem": "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n" });
    const saved = { ...process.env };
    Object.assign(process.env, { PIP_CERT: `${folder}/ca.pem`, GIT_SSL_CAINFO: `${folder}/both.pem` });
    try {
      const { lines } = await run(`const { existsSync } = await import("node:fs"); print(process.env.PIP_CERT, process.env.GIT_SSL_CAINFO, existsSync("${folder}/ca.pem"), existsSync("${folder}/both.pem"));`, ["open.example"]);
      expect(lines).toEqual([`${folder}/ca.pem  true false`]);
    } finally {
      process.env = saved;
    }
  });

  it.each(["off", "external"] as const)("with %s there is no proxy and no variable", async (mode) => {
    const { lines } = await run("print(Object.keys(process.env).filter((name) => /proxy/i.test(name)).join());", ["open.example"], { mode });
    expect(lines).toEqual([]);
  });

  it("no host means no network at all: no proxy, no variable", async () => {
    const { lines } = await run(`print("proxy", await direct(3128, "127.0.0.1"), Object.keys(process.env).filter((name) => /proxy/i.test(name)).join());`, []);
    expect(lines).toEqual(["proxy ECONNREFUSED "]);
  });

  it("nothing runs when the proxy cannot be started", async () => {
    const workspace = temporaryFolder();
    const file = await program(`
      import { runSandboxed } from "@src/sandbox/run-sandboxed.ts";
      const [workspace] = process.argv.slice(2);
      await runSandboxed({ workspace, writable: true, home: "/nowhere", network: { hosts: ["open.example"] } }, ["touch", "began"], { mode: "required" }).catch((error) => console.log(error.code, error.message));
    `);
    const ran = await runProgram(process.execPath, [file, workspace], { env: { PATH: process.env.PATH, TMPDIR: "/nowhere-at-all" } });
    expect(ran.stdout).toMatch(/^failed the sandbox's network could not be opened: ENOENT/);
    expect(readdirSync(workspace)).toEqual([]);
  });
});

function folders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`cru-net-${process.pid}-`));
}
