import { existsSync } from "node:fs";
import { readMarker } from "../../sandbox/marker.ts";
import { inert } from "../../lib/inert.ts";
import type { CommandInput, Run } from "../command.ts";
import { rightsOption, textOption } from "../read-options.ts";

export const run: Run = async (input) => (readMarker(input.env) === undefined ? serve(input) : passOn(input));

async function serve({ cwd, env, io, options }: CommandInput): Promise<number> {
  const { serveOverStdio } = await import("../../mcp/serve-stdio.ts");
  if (io.inIsTerminal) io.err("this speaks the Model Context Protocol with a program, not with a person: `claude mcp add crucible -- cru mcp`\n");
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  const request = {
    cwd, env, trust: options.trust === true, agent: textOption(options.agent), model: undefined, allow: rightsOption(options.allow, "--allow"), deny: rightsOption(options.deny, "--deny"),
    maxIterations: undefined, budgetUsd: undefined,
  };
  await serveOverStdio(
    request,
    process,
    { warn: (message) => io.err(`! ${inert(message)}\n`), opened: (session) => io.err(`session ${session.id}\n`) },
    stop.signal,
  );
  return 0;
}

/** An agent's own `cru mcp` is a wire to whoever started it, who knows the agent's rights and depth. */
async function passOn({ env }: CommandInput): Promise<number> {
  const { INSIDE_SOCKET, SOCKET_VARIABLE } = await import("../../app/mcp/relay-entry.ts");
  const socket = env[SOCKET_VARIABLE] ?? INSIDE_SOCKET;
  if (!existsSync(socket)) (await import("../../app/chat/open-chat.ts")).refuseInsideAgent(env);
  await (await import("../../mcp/relay.ts")).relay(socket, process);
  return 0;
}
