import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PrivateSocket = { path: string; close(): Promise<void> };

/** More at once are closed without a word: one agent has one server, and whatever else connects is its own doing. */
const MOST_CONNECTIONS = 8;

/** A unix socket in a folder that only this user can enter. Closing it ends every connection, and waits for what was done for it. */
export async function listenPrivately(onConnection: (socket: Socket) => Promise<void>): Promise<PrivateSocket> {
  // Short, because the path of a socket may have 107 bytes only.
  const folder = mkdtempSync(join(tmpdir(), "cru-mcp-"));
  const path = join(folder, "mcp.sock");
  const open = new Map<Socket, Promise<void>>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (open.size >= MOST_CONNECTIONS) return void socket.destroy();
    socket.on("error", () => {});
    open.set(socket, onConnection(socket).finally(() => {
      socket.destroy();
      open.delete(socket);
    }));
  });
  await new Promise<void>((listening, fail) => void server.once("error", fail).listen(path, listening));
  return {
    path,
    async close() {
      server.close();
      const work = [...open.values()];
      for (const socket of open.keys()) socket.destroy();
      await Promise.all(work);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
