import { realpathSync } from "node:fs";
import type { Bind, Relay } from "./spec.ts";

/** What the sandbox must show for the relays, and the command that starts them first. A command that has none is left as it is. */
export function withRelays(command: readonly string[], relays: readonly Relay[], node = process.execPath): { command: readonly string[]; binds: Bind[] } {
  if (relays.length === 0) return { command, binds: [] };
  const ends = relays.map(({ port }) => ({ port, path: insideSocket(port) }));
  return {
    command: ["/bin/sh", "-c", START, realpathSync(node), RELAY_SCRIPT, JSON.stringify(ends), ...command],
    binds: relays.map(({ port, socket }) => ({ from: socket, to: insideSocket(port) })),
  };
}

function insideSocket(port: number): string {
  return `/run/crucible/relay-${port}.sock`;
}

/**
 * The substitution ends when the relay has closed its output, that is, when it listens; then the command takes the shell's place, so that
 * signals and exit code are its own. The relay belongs to the sandbox's first process and ends with it.
 */
const START = `[ "$(/usr/bin/env -i "$0" -e "$1" "$2" </dev/null 2>/dev/null &)" = ok ] || { echo "crucible: the way out of the sandbox could not be opened" >&2; exit 125; }; shift 2; exec "$@"`;

/** Plain JavaScript for `node -e`. */
const RELAY_SCRIPT = `
const net = require("node:net"), fs = require("node:fs");
const ends = JSON.parse(process.argv[1]);
let waiting = ends.length;
for (const { port, path } of ends) {
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (inside) => {
    const outside = net.connect({ path, allowHalfOpen: true });
    const over = () => { inside.destroy(); outside.destroy(); };
    inside.on("error", over).pipe(outside).on("error", over).pipe(inside);
  });
  server.on("error", () => process.exit(1));
  server.listen(port, "127.0.0.1", () => {
    if (--waiting > 0) return;
    fs.writeSync(1, "ok");
    fs.closeSync(1);
    fs.openSync("/dev/null", "w");
  });
}
`;
