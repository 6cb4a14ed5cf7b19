import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fetchUrlTool } from "../../src/tools/fetch-url.ts";
import { htmlText } from "../../src/tools/html-text.ts";
import { call, toolContext } from "../support/tool-context.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close().closeAllConnections()));

async function serve(host: string, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, host);
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

/** 127.0.0.2 plays the public internet. */
const isAllowed = (address: string) => address === "127.0.0.2";
const fetchWith = (deps: Parameters<typeof fetchUrlTool>[0], url: string) => call(fetchUrlTool(deps), { url }, toolContext("/none"));
const resolve = async () => [{ address: "127.0.0.2", family: 4 }];

describe("fetch_url", () => {
  it("gives the text of a page", async () => {
    const port = await serve("127.0.0.2", (request, response) => {
      response.setHeader("content-type", request.url === "/h" ? "text/html; charset=iso-8859-1" : "application/json");
      response.end(request.url === "/h" ? Buffer.from("<head><title>T</title></head><p>gr\xf6\xdfe &amp; more<script>evil()</script>", "latin1") : '{"a":1}');
    });
    expect(await fetchWith({ isAllowed, resolve }, `http://site.test:${port}/j`)).toEqual({ ok: true, output: `http://site.test:${port}/j (status 200)\n{"a":1}` });
    expect((await fetchWith({ isAllowed, resolve }, `http://site.test:${port}/h`)).output).toBe(`http://site.test:${port}/h (status 200)\nT\n\ngröße & more`);
  });

  it("refuses loopback, private and reserved addresses in every spelling, by name too", async () => {
    let reached = 0;
    const port = await serve("127.0.0.1", (_, response) => response.end(String(++reached)));
    const hosts = ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "017700000001", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1"];
    const results = await Promise.all(hosts.map((host) => fetchWith({}, `http://${host}:${port}/`)));
    expect(results.filter((r) => r.ok)).toEqual([]);
    const rebound = await fetchWith({ resolve: async () => [{ address: "8.8.8.8", family: 4 }, { address: "127.0.0.1", family: 4 }] }, `http://evil.test:${port}/`);
    expect(rebound).toMatchObject({ ok: false });
    expect(rebound.output).toContain("an address of this machine or of a private network");
    expect(reached).toBe(0);
  });

  it("checks the target of each redirect", async () => {
    let reached = 0;
    const secret = await serve("127.0.0.1", (_, response) => response.end(String(++reached)));
    const port = await serve("127.0.0.2", (request, response) => {
      const to: Record<string, string> = { "/out": `http://127.0.0.1:${secret}/`, "/file": "file:///etc/passwd", "/loop": "/loop", "/ok": "/end" };
      if (request.url === "/end") response.end("end");
      else response.writeHead(302, { location: to[request.url ?? ""] ?? "/" }).end();
    });
    const url = `http://127.0.0.2:${port}`;
    expect((await fetchWith({ isAllowed }, `${url}/out`)).output).toContain("private network");
    expect((await fetchWith({ isAllowed }, `${url}/file`)).output).toContain("only http and https");
    expect((await fetchWith({ isAllowed }, `${url}/loop`)).output).toContain("redirects more than 5 times");
    expect((await fetchWith({ isAllowed }, `${url}/ok`)).output).toBe(`${url}/end (status 200)\nend`);
    expect(reached).toBe(0);
  });

  it("connects to the address that was checked, although the name says another one the next time", async () => {
    let asked = 0;
    let reached = 0;
    const port = await serve("127.0.0.2", (_, response) => response.end("checked"));
    const other = createServer((_, response) => response.end(String(++reached))).listen(port, "127.0.0.1");
    servers.push(other);
    await new Promise((done) => other.once("listening", done));
    const changing = async () => [{ address: ++asked === 1 ? "127.0.0.2" : "127.0.0.1", family: 4 }];
    expect((await fetchWith({ isAllowed, resolve: changing }, `http://rebind.test:${port}/`)).output).toContain("checked");
    expect([asked, reached]).toEqual([1, 0]);
  });

  it("bounds size and time, and takes text only", async () => {
    const port = await serve("127.0.0.2", (request, response) => {
      if (request.url === "/hang") response.write("x");
      else if (request.url === "/big") response.end(Buffer.alloc(20 * 2 ** 20, "x"));
      else if (request.url === "/png") response.writeHead(200, { "content-type": "image/png" }).end("x");
      else if (request.url === "/nul") response.end("a\0b");
      else if (request.url === "/gzip") response.writeHead(200, { "content-encoding": "gzip" }).end("x");
      else response.writeHead(404).end("gone");
    });
    const get = (path: string) => fetchWith({ isAllowed, timeMs: path === "/hang" ? 300 : 20_000 }, `http://127.0.0.2:${port}${path}`);
    expect((await get("/hang")).output).toContain("it took too long");
    expect((await get("/big")).output.length).toBeLessThan(51_000);
    expect((await get("/png")).output).toContain("is not text (image/png");
    expect((await get("/nul")).output).toContain("is not text");
    expect((await get("/gzip")).output).toContain("compressed");
    expect(await get("/none")).toMatchObject({ ok: false, output: expect.stringContaining("status 404)\ngone") });
  });

  it("says what is wrong with a URL", async () => {
    expect((await fetchWith({}, "example.com/x")).output).toContain("write it whole, with https://");
    expect((await fetchWith({}, "ftp://example.com/x")).output).toContain("only http and https");
    expect((await fetchWith({}, "http://u:p@example.com/")).output).toContain("user name or password");
    expect((await fetchWith({ resolve: () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" })) }, "http://nowhere.test/")).output).toContain("could not be resolved (ENOTFOUND)");
  });
});

describe("htmlText", () => {
  it("survives broken and hostile HTML in linear time", () => {
    expect(htmlText("<p>a<b>b</b><br>c<!-- <p> --><STYLE>x</Style>d &#x41;&#65;&unknown;&#xD800;")).toBe("ab\ncd AA&unknown;&#xD800;");
    expect(htmlText("<script>never closed")).toBe("");
    expect(htmlText("<!doctype html>1 < 2")).toBe("1 < 2");
    expect(htmlText("<".repeat(300_000))).toHaveLength(300_000);
    expect(htmlText("<a".repeat(300_000))).toBe("");
    expect(htmlText("<script></".repeat(50_000))).toBe("");
  });
});
