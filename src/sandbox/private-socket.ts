import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type PrivateSocket = { socket: string; /** No connection, no socket and no folder is left when this returns. */ close(): Promise<void> };

const PREFIX = "cru-net-";
/** Younger ones may be about to listen. */
const LEFT_AFTER_MS = 60_000;

/** Lets a server listen on a unix socket that only this user reaches. */
export async function listenPrivately(server: Server): Promise<PrivateSocket> {
  await removeLeft(tmpdir());
  // Random and 0700; short, because the path of a socket may have 107 bytes only.
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
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

/** Folders of processes that were killed: nobody listens there any more. */
export async function removeLeft(parent: string): Promise<void> {
  const folders = listed(parent).filter((name) => name.startsWith(PREFIX)).map((name) => join(parent, name));
  const old = folders.filter((folder) => {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    return stat !== undefined && stat.uid === process.getuid?.() && stat.mtimeMs < Date.now() - LEFT_AFTER_MS;
  });
  await Promise.all(old.map(async (folder) => {
    if (await isDead(join(folder, "s"))) rmSync(folder, { recursive: true, force: true });
  }));
}

function isDead(socket: string): Promise<boolean> {
  return new Promise((known) => {
    const client = connect(socket, () => {
      client.destroy();
      known(false);
    });
    client.once("error", (error: NodeJS.ErrnoException) => known(error.code === "ECONNREFUSED"));
  });
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
