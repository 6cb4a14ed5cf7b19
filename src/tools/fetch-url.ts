import { z } from "zod";
import type { Tool, ToolResult } from "../contract/tool.ts";
import { isPublicAddress } from "../lib/public-address.ts";
import prose from "./fetch-url.md";
import { htmlText } from "./html-text.ts";
import { httpGet, type HttpDeps, type HttpReply } from "./http-get.ts";

const inputSchema = z.object({ url: z.string().min(1).max(4096) });
const MOST_BYTES = 2 * 2 ** 20;
const MOST_TEXT = 50_000;
const MOST_REDIRECTS = 5;
const TIME_MS = 30_000;

export type FetchUrlDeps = { resolve?: HttpDeps["resolve"]; isAllowed?: HttpDeps["isAllowed"]; timeMs?: number };

export function fetchUrlTool(deps: FetchUrlDeps = {}): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "fetch_url",
    description: prose.trim(),
    input: inputSchema,
    needs: ["NetworkAccess"],
    changes: false,
    async run({ url }, { signal }) {
      const http: HttpDeps = {
        isAllowed: deps.isAllowed ?? isPublicAddress,
        signal: AbortSignal.any([signal, AbortSignal.timeout(deps.timeMs ?? TIME_MS)]),
        maxBytes: MOST_BYTES,
        ...(deps.resolve === undefined ? {} : { resolve: deps.resolve }),
      };
      return follow(url, http);
    },
    async preview({ url }) {
      return { title: `read ${url}`, body: `GET ${url}`, reversible: true };
    },
  };
}

/** Every address on the way is checked like the first one. */
async function follow(first: string, http: HttpDeps): Promise<ToolResult> {
  let next = first;
  let base: string | undefined;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const url = parse(next, base);
    if (typeof url === "string") return { ok: false, output: url };
    const reply = await httpGet(url, http);
    if (!reply.ok) return { ok: false, output: `${url.href}: ${reply.reason}` };
    if (reply.status < 300 || reply.status > 399 || reply.location === undefined) return answer(url, reply);
    next = reply.location;
    base = url.href;
  }
  return { ok: false, output: `${first} redirects more than ${MOST_REDIRECTS} times` };
}

function parse(text: string, base: string | undefined): URL | string {
  if (!URL.canParse(text, base)) return `${text} is not a URL; write it whole, with https://`;
  const url = new URL(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") return `${url.protocol} is not supported; only http and https are`;
  if (url.username !== "" || url.password !== "") return "a URL with a user name or password is refused";
  return url;
}

function answer(url: URL, reply: Extract<HttpReply, { ok: true }>): ToolResult {
  if (reply.encoding !== "" && reply.encoding !== "identity") return { ok: false, output: `${url.href}: the server sent a compressed answer although none was asked for` };
  const type = reply.type.toLowerCase();
  const isText = type === "" || /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|toml|x-ndjson|x-sh)\b/.test(type);
  if (!isText || reply.bytes.subarray(0, 8192).includes(0)) return { ok: false, output: `${url.href} is not text (${type === "" ? "unknown type" : type}, ${reply.bytes.length} bytes)` };
  const decoded = decode(reply.bytes, /charset=["']?([\w-]+)/.exec(type)?.[1]);
  const text = /html/.test(type) ? htmlText(decoded) : decoded;
  const body = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n[cut after ${MOST_TEXT} characters]` : `${text}${reply.cut ? "\n[the answer was longer and was cut]" : ""}`;
  return { ok: reply.status < 400, output: `${url.href} (status ${reply.status})\n${body}` };
}

function decode(bytes: Buffer, charset: string | undefined): string {
  try {
    return new TextDecoder(charset ?? "utf-8").decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}
