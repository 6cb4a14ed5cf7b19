import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer as createPlainServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

/** A web server of this machine that says who it is and remembers what it was asked. */
export async function webServer(name: string): Promise<{ port: number; seen: Seen[]; connections(): number }> {
  const seen: Seen[] = [];
  let connections = 0;
  const server = createServer((message, response) => {
    let body = "";
    message.on("data", (chunk: Buffer) => (body += chunk.toString())).on("end", () => {
      seen.push({ method: message.method ?? "", url: message.url ?? "", headers: message.headers, body });
      response.setHeader("x-name", name).end(`${name} ${message.method} ${message.url} ${body}`);
    });
  });
  server.on("connection", () => connections++);
  const port = await listen(server);
  return { port, seen, connections: () => connections };
}

/** A server that sends back every byte, and knows who is still connected. */
export async function echoServer(): Promise<{ port: number; open: Set<Socket> }> {
  const open = new Set<Socket>();
  const server = createPlainServer({ allowHalfOpen: true }, (peer) => {
    open.add(peer.on("close", () => open.delete(peer)).on("error", () => {}));
    peer.pipe(peer);
  });
  return { port: await listen(server), open };
}

async function listen(server: ReturnType<typeof createPlainServer>): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends raw bytes to a unix socket and gives back all that comes until the other side hangs up, or `until` is in it. */
export function speak(socket: string, bytes: string, until?: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const client = connect(socket, () => client.write(bytes));
    const finish = (): void => {
      client.destroy();
      resolve(heard);
    };
    client.on("data", (chunk: Buffer) => {
      heard += chunk.toString("latin1");
      if (until !== undefined && heard.includes(until)) finish();
    });
    client.on("end", finish).on("error", finish);
  });
}
