import { createConnection } from "node:net";
import { CruError } from "../contract/error.ts";

/** Passes the messages of an agent to a socket of its owner and back, until one side ends. It looks at none of them. */
export function relay(socket: string, io: { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream }): Promise<void> {
  return new Promise((done, fail) => {
    const connection = createConnection({ path: socket, allowHalfOpen: true });
    const end = (): void => {
      io.stdin.destroy();
      done();
    };
    connection.once("error", (error) => {
      io.stdin.destroy();
      fail(new CruError("failed", `the owner of this agent cannot be reached: ${error.message}`, { cause: error }));
    });
    connection.once("close", end);
    io.stdout.on("error", () => connection.destroy());
    io.stdin.pipe(connection);
    connection.pipe(io.stdout, { end: false });
    connection.once("end", () => connection.end());
  });
}
