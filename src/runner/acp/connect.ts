import { type AnyMessage, client, type ClientConnection, type Stream } from "@agentclientprotocol/sdk";
import type { Program } from "../../lib/subprocess.ts";
import { lineReader } from "../line-reader.ts";
import { type Message, parseMessage, record, text } from "../message.ts";

/** What the agent sends, beside the answers to what it was asked. Requests may throw a `RequestError`; that is the answer then. */
export type AgentTraffic = {
  update(params: Message): void;
  /** What is no message of the protocol, or one that nobody expects. */
  raw(line: string): void;
  request(method: string, params: Message, signal: AbortSignal): Promise<unknown>;
};

export type AgentLink = {
  request(method: string, params: Message): Promise<Message>;
  notify(method: string, params: Message): void;
  /** The rest of what was sent has been read. */
  end(): void;
};

/** More than a working agent ever has open; a flood of them must not fill the memory. */
const MOST_OPEN = 64;

/**
 * The protocol's own client over a program's stdin and stdout. Updates are taken here, in the order of the lines: the library hands
 * them over by the way, and an answer could overtake what was said before it.
 */
export function connectAgent(program: Pick<Program, "stdin" | "stdout">, traffic: AgentTraffic): AgentLink {
  const asked = new Set<unknown>();
  let open = 0;
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({ start: (given) => void (controller = given) });
  const write = (message: object): void => void (program.stdin?.writable === true && program.stdin.write(`${JSON.stringify(message)}\n`));
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ("method" in message && "id" in message) asked.add(message.id);
      else if (!("method" in message)) open--;
      write(message);
    },
  });

  const take = (message: Message, line: string): void => {
    const isCall = typeof message.method === "string";
    if (message.jsonrpc !== "2.0" || (!isCall && !asked.delete(message.id))) return traffic.raw(line);
    if (message.method === "session/update" && !("id" in message)) return traffic.update(record(message.params));
    if (isCall && !("id" in message) && message.method !== "$/cancel_request") return text(message.method).startsWith("_") ? undefined : traffic.raw(line);
    if (isCall && "id" in message && ++open > MOST_OPEN) {
      open--;
      return write({ jsonrpc: "2.0", id: message.id, error: { code: -32000, message: "too many requests at once" } });
    }
    controller?.enqueue(message as AnyMessage);
  };

  const lines = lineReader({
    line(line) {
      const message = parseMessage(line);
      if (message === undefined) traffic.raw(line);
      else take(message, line);
    },
    cut: (head, bytes) => traffic.raw(`${head}\n[… ${bytes} bytes cut …]`),
  });
  program.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
  const connection = openClient(traffic, { readable, writable });
  return {
    request: async (method, params) => record(await connection.agent.request<unknown, Message>(method, params)),
    notify: (method, params) => void connection.agent.notify<Message>(method, params).catch(() => {}),
    end() {
      lines.end();
      controller?.close();
      controller = undefined;
    },
  };
}

const METHODS = ["session/request_permission", "elicitation/create", "fs/read_text_file", "fs/write_text_file"];

/** Requests of other kinds are refused by the library as unknown. Parameters are read tolerantly, by those who use them. */
function openClient(traffic: AgentTraffic, stream: Stream): ClientConnection {
  const app = client({ name: "crucible" });
  for (const method of METHODS) app.onRequest(method, record, ({ params, signal }) => traffic.request(method, params, signal));
  return app.connect(stream);
}
