import { boundedText } from "../../lib/bounded-text.ts";
import { inertLine } from "../../lib/inert.ts";
import { isRecord } from "./clean-schema.ts";

/** What a tool gave back as one bounded text. Pictures and sound are named, not included. */
export function flattenContent(result: { content?: unknown; structuredContent?: unknown }, maxBytes: number): string {
  const parts = Array.isArray(result.content) ? result.content.map(partText) : [];
  const text = parts.length === 0 && result.structuredContent !== undefined ? JSON.stringify(result.structuredContent) : parts.join("\n");
  const bounded = boundedText(maxBytes);
  bounded.add(Buffer.from(text));
  return bounded.text();
}

function partText(part: unknown): string {
  if (!isRecord(part)) return "[unreadable content]";
  if (part.type === "text") return typeof part.text === "string" ? part.text : "";
  if (part.type === "image" || part.type === "audio") return `[${part.type} ${label(part.mimeType)}, ${bytesOf(part.data)} bytes, not included]`;
  if (part.type === "resource_link") return `[resource ${label(part.name)} ${label(part.uri)}]`;
  if (part.type !== "resource" || !isRecord(part.resource)) return `[content of the unknown type ${label(part.type)}]`;
  const { uri, mimeType, text, blob } = part.resource;
  if (typeof text === "string") return `[resource ${label(uri)}]\n${text}`;
  return `[resource ${label(uri)} ${label(mimeType)}, ${bytesOf(blob)} bytes, not included]`;
}

function label(value: unknown): string {
  return typeof value === "string" ? inertLine(value, 300) : "";
}

function bytesOf(base64: unknown): number {
  return typeof base64 === "string" ? Math.floor((base64.replace(/=+$/, "").length * 3) / 4) : 0;
}
