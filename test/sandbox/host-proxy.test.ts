import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Address } from "../../src/lib/checked-addresses.ts";
import { admitHosts, type Refusal, refusalText } from "../../src/sandbox/admit-host.ts";
import { type HostProxyLimits, startHostProxy } from "../../src/sandbox/host-proxy.ts";
import { echoServer, speak, webServer } from "../support/network.ts";
import { until } from "../support/processes.ts";

type Setup = { hosts?: string[]; intranet?: string[]; names?: Record<string, string[]>; limits?: HostProxyLimits };

async function proxy({ hosts = [], intranet = [], names = {}, limits }: Setup) {
  const refused: Refusal[] = [];
  const asked: string[] = [];
  const resolve = async (host: string): Promise<Address[]> => {
    asked.push(host);
    const found = names[host];
    if (found === undefined) throw Object.assign(new Error("unknown"), { code: "ENOTFOUND" });
    return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  const opened = await startHostProxy(admitHosts({ hosts, intranet, resolve, onRefused: (refusal) => refused.push(refusal) }), limits);
  onTestFinished(() => opened.close());
  const connectTo = (target: string, then = "", end?: string): Promise<string> => speak(opened.socket, `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n${then}`, end);
  const get = (url: string, headers = ""): Promise<string> => speak(opened.socket, `GET ${url} HTTP/1.1\r\nhost: whatever\r\nconnection: close\r\n${headers}\r\n`);
  return { ...opened, refused, asked, connectTo, get };
}

describe("startHostProxy", () => {
  it("opens a tunnel to a listed host and port, bytes untouched", async () => {
    const echo = await echoServer();
    const { connectTo, refused, asked } = await proxy({ hosts: [`open.example:${echo.port}`, `127.0.0.1:${echo.port}`], names: { "open.example": ["127.0.0.1"] } });
    expect(await connectTo(`OPEN.example:${echo.port}`, "raw\0\xff bytes", "bytes")).toBe("HTTP/1.1 200 Connection established\r\n\r\nraw\0\xc3\xbf bytes");
    expect([refused, asked]).toEqual([[], ["open.example"]]);
  });

  it("passes a plain request on, written anew: path, body and own headers, nothing that belongs to one hop", async () => {
    const web = await webServer("web");
    const { socket } = await proxy({ hosts: [`open.example:${web.port}`, `127.0.0.1:${web.port}`], names: { "open.example": ["127.0.0.1"] } });
    const answer = await speak(socket, [
      `POST http://open.example:${web.port}/a?b=c HTTP/1.1`, "host: other.example", "proxy-authorization: secret", "connection: close, x-hop", "x-hop: 1", "x-own: 2", "content-length: 4", "", "body",
    ].join("\r\n"));
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.*\r\n)*x-name: web\r\n/i);
    expect(answer).toContain("web POST /a?b=c body");
    expect(web.seen).toMatchObject([{ method: "POST", url: "/a?b=c", body: "body", headers: { host: `open.example:${web.port}`, "x-own": "2" } }]);
    expect(Object.keys(web.seen[0]?.headers ?? {}).filter((name) => /proxy|hop/.test(name))).toEqual([]);
  });

  it.each(["closed.example:443", "open.example:22", "open.example.evil.net:443", "8.8.8.8:443", "127.0.0.1:443", "[::1]:443", "169.254.169.254:80", "localhost:22", "2130706433:443", "open.example:443@evil.net:443", "open.example"])(
    "refuses CONNECT %s without looking it up",
    async (target) => {
      const { connectTo, asked } = await proxy({ hosts: ["open.example"] });
      expect(await connectTo(target)).toMatch(/^HTTP\/1.1 40[03] /);
      expect(asked).toEqual([]);
    },
  );

  it.each([
    "http://closed.example/", "http://open.example:22/", "http://open.example@closed.example/", "http://user:pw@open.example/", "https://open.example/", "ftp://open.example/", "file:///etc/passwd", "/", "//open.example/", "*",
    "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http:/open.example", "http://open.example\\@closed.example/", "http://127.1/",
  ])("refuses a request for %s", async (url) => {
    const { get, asked } = await proxy({ hosts: ["open.example"] });
    expect(await get(url)).toMatch(/^HTTP\/1.1 40[03] /);
    expect(asked).toEqual([]);
  });

  it.each([["10.0.0.3"], ["127.0.0.1"], ["169.254.169.254"], ["192.168.1.1"], ["::1"], ["fe80::1"], ["::ffff:127.0.0.1"], ["0.0.0.0"], ["8.8.8.8", "127.0.0.1"]])(
    "refuses a listed name that leads to %s (and %s)",
    async (...addresses) => {
      const { connectTo, get, refused } = await proxy({ hosts: ["open.example"], names: { "open.example": addresses } });
      expect([await connectTo("open.example:443"), await get("http://open.example/")]).toEqual([expect.stringMatching(/^HTTP\/1.1 403 /), expect.stringMatching(/^HTTP\/1.1 403 /)]);
      expect(refused[0]).toMatchObject({ host: "open.example" });
    },
  );

  it("reaches a private address only when the user listed that very address, or the name comes from the user's own tools", async () => {
    const web = await webServer("web");
    const names = { "open.example": ["127.0.0.1"] };
    const closed = await proxy({ hosts: [`open.example:${web.port}`], names });
    expect(await closed.get(`http://open.example:${web.port}/`)).toContain("private network");
    expect(closed.refused.map((refusal) => refusalText(refusal, "the agent", ["a.example"]))).toEqual([
      `the agent tried to reach open.example:${web.port}, which is at 127.0.0.1:${web.port}, in a private network; if it should: cru config set sandbox.hosts a.example,127.0.0.1:${web.port}`,
    ]);
    const own = await proxy({ intranet: [`open.example:${web.port}`], names });
    expect(await own.get(`http://open.example:${web.port}/`)).toContain("web GET /");
    const here = await proxy({ hosts: [`localhost:${web.port}`] });
    expect(await here.get(`http://localhost:${web.port}/`)).toContain("web GET /");
  });

  it("a name that changes its address after the check is not asked again", async () => {
    const web = await webServer("web");
    let asks = 0;
    const names = { get "open.example"() { return asks++ === 0 ? ["127.0.0.1"] : ["10.0.0.1"]; } };
    const { get, connectTo } = await proxy({ hosts: [`open.example:${web.port}`, `127.0.0.1:${web.port}`], names });
    expect(await get(`http://open.example:${web.port}/`)).toContain("web GET /");
    asks = 0;
    expect(await connectTo(`open.example:${web.port}`, "GET /t HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")).toContain("web GET /t");
    expect(asks).toBe(1);
  });

  it("tells of each refused host once, with the command that opens it, and not without end", async () => {
    const { connectTo, refused } = await proxy({ hosts: ["open.example"] });
    for (const target of ["x.example:443", "X.example:80", "x.example:443", "y.example:22"]) await connectTo(target);
    expect(refused).toEqual([{ host: "x.example" }, { host: "y.example:22" }]);
    expect(refusalText({ host: "x.example" }, "the agent", ["open.example"])).toBe(
      "the agent tried to reach x.example, which is not open; if it should: cru config set sandbox.hosts open.example,x.example",
    );
    expect(refusalText({ host: "x.example" }, "the agent", ["*.open.example"])).toContain("sandbox.hosts '*.open.example,x.example'");
    expect(refusalText({ host: "localhost:22" }, "the agent", [])).toBe("the agent tried to reach localhost:22, which is not open");
    await Promise.all(Array.from({ length: 70 }, (_, i) => connectTo(`h${i}.example:443`)));
    expect(refused).toHaveLength(50);
  });

  it.each([
    ["two lengths", "POST http://H/ HTTP/1.1\r\nhost: H\r\ncontent-length: 4\r\ncontent-length: 40\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n"],
    ["a length and chunks", "POST http://H/ HTTP/1.1\r\nhost: H\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"],
    ["odd chunks", "POST http://H/ HTTP/1.1\r\nhost: H\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"],
    ["a bare line feed in a header", "GET http://H/ HTTP/1.1\r\nhost: H\r\nx: 1\nGET /smuggled HTTP/1.1\r\n\r\n"],
    ["a space before the colon", "POST http://H/ HTTP/1.1\r\nhost: H\r\ncontent-length : 40\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: H\r\n\r\n"],
    ["a folded header", "GET http://H/ HTTP/1.1\r\nhost: H\r\nx: 1\r\n y: 2\r\n\r\n"],
    ["a header too large", `GET http://H/ HTTP/1.1\r\nhost: H\r\nx: ${"a".repeat(20_000)}\r\n\r\n`],
    ["no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 raw\r\n\r\n"],
  ])("nothing of a request with %s arrives", async (_what, bytes) => {
    const web = await webServer("web");
    const { socket } = await proxy({ hosts: [`localhost:${web.port}`] });
    const answer = await speak(socket, bytes.replaceAll("H/", `localhost:${web.port}/`));
    expect(answer).toMatch(/^(?:HTTP\/1.1 4\d\d [^]*)?$/);
    expect(web.seen).toEqual([]);
  });

  it("what follows a request on the same connection is checked on its own", async () => {
    const web = await webServer("web");
    const { socket } = await proxy({ hosts: [`localhost:${web.port}`] });
    const answer = await speak(socket, `GET http://localhost:${web.port}/1 HTTP/1.1\r\nhost: h\r\n\r\nGET http://closed.example/2 HTTP/1.1\r\nhost: localhost:${web.port}\r\nconnection: close\r\n\r\n`);
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
    expect(web.seen.map(({ url }) => url)).toEqual(["/1"]);
  });

  it("a client that sends its header byte by byte is cut off, and there are never more than so many at once", async () => {
    const { socket } = await proxy({ hosts: ["open.example"], limits: { headerMs: 50, connections: 3 } });
    expect(await speak(socket, "GET http://open.example/ HTTP/1.1\r\nx-slow: ")).toMatch(/^HTTP\/1.1 408 /);
    const ended: Socket[] = [];
    const clients = Array.from({ length: 10 }, () => connect(socket));
    for (const client of clients) client.on("close", () => ended.push(client)).on("error", () => {}).resume();
    await until(() => ended.length >= 7);
    for (const client of clients) client.destroy();
  });

  it("leaves no connection, no socket and no folder when it is closed", async () => {
    const echo = await echoServer();
    const { socket, close } = await proxy({ hosts: [`localhost:${echo.port}`] });
    const client = connect(socket, () => client.write(`CONNECT localhost:${echo.port} HTTP/1.1\r\n\r\nhello`));
    await new Promise<void>((heard) => client.on("data", (chunk: Buffer) => chunk.includes("hello") && heard()));
    expect(echo.open.size).toBe(1);
    const gone = new Promise((ended) => client.on("close", ended).on("error", () => {}));
    await close();
    await gone;
    await until(() => echo.open.size === 0);
    expect(existsSync(dirname(socket))).toBe(false);
  });
});
