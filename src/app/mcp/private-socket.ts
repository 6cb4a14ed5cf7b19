import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PrivateSocket = { path: string; close(): Promise<void> };

/** More at once are closed without a word: one agent has one server, and whatever else connects is its own doing. */
const MOST_CONNECTIONS = 8;

/** A unix socket in a folder that only this user can enter. Closing it ends every connection. */
export async function listenPrivately(onConnection: (socket: Socket) => void): Promise<PrivateSocket> {
  // Short, because the path of a socket may have 107 bytes only.
  const folder = mkdtempSync(join(tmpdir(), "cru-mcp-"));
  const path = join(folder, "mcp.sock");
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (open.size >= MOST_CONNECTIONS) return void socket.destroy();
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((listening, fail) => void server.once("error", fail).listen(path, listening));
  return {
    path,
    close: () =>
      new Promise((closed) => {
        server.close(() => {
          rmSync(folder, { recursive: true, force: true });
          closed();
        });
        for (const socket of open) socket.destroy();
      }),
  };
}
