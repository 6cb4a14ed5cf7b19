import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { endpointEmbedder } from "../../src/kiln/embedder.ts";
import { openKiln } from "../../src/kiln/open-kiln.ts";
import { machine, repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type Asked = { url: string | undefined; authorization: string | undefined; input: string[]; model: string };

/** An endpoint on loopback. `answer` gives the vector of a text, or takes the reply into its own hands. */
async function endpoint(answer: (text: string) => number[], reply?: (response: ServerResponse, request: IncomingMessage) => boolean): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += String(part)));
    request.on("end", () => {
      const { input, model } = JSON.parse(body) as { input: string[]; model: string };
      asked.push({ url: request.url, authorization: request.headers.authorization, input, model });
      if (reply?.(response, request) === true) return;
      // Out of order on purpose: the index counts.
      response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: answer(text) })).toReversed() }));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Meaning for this test: animals or not. */
const animals = (text: string): number[] => (/\b(?:cat|dog|feline|pet)\b/i.test(text) ? [1, 0.1] : [0.1, 1]);

describe("embedding endpoint", () => {
  it("gets the texts with model and key, and its vectors are put in order", async () => {
    const { url, asked } = await endpoint(animals);
    const made = await endpointEmbedder({ url: `${url}/v1/`, model: "m", key: "k" }).embed(["a cat", "a house", ""]);
    expect(made.ok && made.vectors.map((v) => Math.round((v[0] ?? 0) * 10))).toEqual([10, 1, 1]);
    expect(asked).toEqual([{ url: "/v1/embeddings", authorization: "Bearer k", input: ["a cat", "a house", " "], model: "m" }]);
  });

  it.each([
    ["an error", (r: ServerResponse) => void r.writeHead(500).end("{}"), "answered 500"],
    ["a redirect", (r: ServerResponse) => void r.writeHead(302, { location: "http://127.0.0.1:9/" }).end(), "could not be reached"],
    ["no JSON", (r: ServerResponse) => void r.end("<html>"), "could not be reached"],
    ["too few vectors", (r: ServerResponse) => void r.end('{"data":[{"index":0,"embedding":[1]}]}'), "something else"],
    ["no numbers", (r: ServerResponse) => void r.end('{"data":[{"index":0,"embedding":["x"]},{"index":1,"embedding":[]}]}'), "something else"],
  ])("that sends %s is a failure with a reason, not an exception", async (_, reply, reason) => {
    const { url } = await endpoint(animals, (response) => {
      reply(response);
      return true;
    });
    const made = await endpointEmbedder({ url, model: "m", key: undefined }).embed(["a", "b"]);
    expect(made).toEqual({ ok: false, reason: expect.stringContaining(reason) as string });
  });

  it("replaces the word vectors, embeds a note once, also after a rename, and is asked again after a failure", async () => {
    let works = false;
    const { url, asked } = await endpoint(animals, (response) => {
      if (!works) response.writeHead(503).end();
      return !works;
    });
    const base = temporaryFolder();
    writeFiles(join(base, "p"), { "one.md": "# One\nA dog.\n", "two.md": "# Two\nA house.\n" });
    const places = { root: join(base, "p"), gitDir: undefined, cacheFolder: join(base, "cache"), wordVectors: join(repository, "assets", "word-vectors", "words.bin") };
    const embedder = endpointEmbedder({ url, model: "m", key: undefined });
    expect((await openKiln(places, { embedder }).refresh()).embeddingFailure).toContain("503");
    works = true;
    const kiln = openKiln(places, { embedder });
    expect(await kiln.refresh()).toMatchObject({ notes: 2, embeddingFailure: undefined });
    expect((await kiln.search("my feline", { limit: 1 }))[0]?.path).toBe("one.md");
    const before = asked.length;
    await openKiln(places, { embedder }).refresh();
    expect(asked.length).toBe(before);
    // Another way to make vectors cannot use the old ones.
    expect(openKiln(places).list()).toEqual([]);
  });

  it("is taken from the user's settings or the environment, never from a project", async () => {
    const { url, asked } = await endpoint(animals);
    const project = { "one.md": "# One\nA dog.\n", ".crucible/config.yaml": `notes:\n  embeddings_url: ${url}\n` };
    const { cru } = machine({ project });
    expect((await cru(["notes", "search", "dog", "--trust"])).code).toBe(0);
    expect(asked).toEqual([]);
    const env = { CRU_NOTES_EMBEDDINGS_URL: url, CRU_NOTES_EMBEDDINGS_MODEL: "m", CRU_NOTES_EMBEDDINGS_KEY: "secret" };
    expect((await cru(["notes", "search", "feline"], { env })).stdout).toContain("one.md:1");
    expect(asked[0]).toMatchObject({ model: "m", authorization: "Bearer secret" });
  });
});
