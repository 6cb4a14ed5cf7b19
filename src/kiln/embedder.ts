/** Vectors of texts, in their order. A failure is a value: search goes on with words. */
export type Embedded = { ok: true; vectors: Float32Array[] } | { ok: false; reason: string };

export type Embedder = {
  /** Changes whenever vectors made before cannot be compared with new ones. */
  id: string;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Embedded>;
};

export type EndpointSettings = { url: string; model: string; key: string | undefined };

const BATCH = 64;
const MOST_CHARACTERS = 8000;
const TIMEOUT_MS = 30_000;

/** An OpenAI-compatible endpoint. `url` is the root that ends in `/v1`, or without it. */
export function endpointEmbedder(settings: EndpointSettings, request: typeof fetch = fetch): Embedder {
  const url = `${settings.url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/embeddings`;
  return {
    id: `endpoint ${url} ${settings.model}`,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const part = texts.slice(at, at + BATCH).map((text) => text.slice(0, MOST_CHARACTERS) || " ");
        const made = await one(url, settings, part, request, signal);
        if (!made.ok) return made;
        vectors.push(...made.vectors);
      }
      const size = vectors[0]?.length;
      return vectors.every((v) => v.length === size) ? { ok: true, vectors } : { ok: false, reason: "vectors of different lengths came back" };
    },
  };
}

async function one(url: string, settings: EndpointSettings, input: string[], request: typeof fetch, signal: AbortSignal | undefined): Promise<Embedded> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const reply = await request(url, {
      method: "POST",
      // A redirect would take the key and the notes to a place that the user did not name.
      redirect: "error",
      headers: { "content-type": "application/json", ...(settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` }) },
      body: JSON.stringify({ model: settings.model, input, encoding_format: "float" }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    if (!reply.ok) {
      await reply.body?.cancel();
      return { ok: false, reason: `the embedding endpoint answered ${reply.status}` };
    }
    return read(await reply.json(), input.length);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, reason: limit.aborted ? "the embedding endpoint did not answer in time" : "the embedding endpoint could not be reached" };
  }
}

function read(reply: unknown, count: number): Embedded {
  const data = typeof reply === "object" && reply !== null && "data" in reply && Array.isArray(reply.data) ? (reply.data as unknown[]) : [];
  const vectors: Float32Array[] = [];
  for (const [place, item] of data.entries()) {
    const { index = place, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (typeof index === "number" && Array.isArray(embedding) && embedding.length > 0 && embedding.every((x) => typeof x === "number")) {
      vectors[index] = Float32Array.from(embedding);
    }
  }
  const whole = vectors.length === count && Array.from(vectors).every((v) => v !== undefined);
  return whole ? { ok: true, vectors } : { ok: false, reason: "the embedding endpoint sent something else than one vector a text" };
}
