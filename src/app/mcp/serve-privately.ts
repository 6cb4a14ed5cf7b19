import { createServer, type Socket } from "node:net";
import { listenPrivately, type PrivateSocket } from "../../sandbox/private-socket.ts";

/** More at once are closed without a word: an agent has one server, and whatever else connects is its own doing. */
const MOST_CONNECTIONS = 8;

/** Serves each connection to a private socket until it is done. Closing ends them all, and waits for what was done for them. */
export async function servePrivately(serve: (connection: Socket) => Promise<void>): Promise<PrivateSocket> {
  const running = new Set<Promise<void>>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    const work = serve(connection).finally(() => {
      connection.destroy();
      running.delete(work);
    });
    running.add(work);
  });
  server.maxConnections = MOST_CONNECTIONS;
  const { socket, close } = await listenPrivately(server);
  return {
    socket,
    async close() {
      await close();
      await Promise.all(running);
    },
  };
}
