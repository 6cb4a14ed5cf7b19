import { mkdtempSync, rmSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PrivateSocket = { socket: string; /** No connection, no socket and no folder is left when this returns. */ close(): Promise<void> };

/** Lets a server listen on a unix socket that only this user reaches. */
export async function listenPrivately(server: Server): Promise<PrivateSocket> {
  // Random and 0700; short, because the path of a socket may have 107 bytes only.
  const folder = mkdtempSync(join(tmpdir(), `cru-net-${process.pid}-`));
  const socket = join(folder, "s");
  const open = new Set<Socket>();
  server.on("connection", (client: Socket) => {
    open.add(client);
    client.once("close", () => open.delete(client)).on("error", () => {});
  });
  try {
    await new Promise<void>((listening, fail) => void server.once("error", fail).listen(socket, listening));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    new Promise((closed) => {
      server.close(() => {
        rmSync(folder, { recursive: true, force: true });
        closed();
      });
      for (const client of open) client.destroy();
    });
  return { socket, close: () => (closing ??= close()) };
}
