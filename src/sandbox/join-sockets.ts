import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Every byte of one to the other, both ways, also when one way has ended; what breaks off on one side breaks off on the other. */
export function joinSockets(inside: Duplex, outside: Socket): void {
  const over = (): void => {
    inside.destroy();
    outside.destroy();
  };
  inside.on("error", over).pipe(outside).on("error", over).pipe(inside);
  inside.once("close", () => (inside.readableEnded && inside.writableFinished ? outside.destroySoon() : outside.destroy()));
}
