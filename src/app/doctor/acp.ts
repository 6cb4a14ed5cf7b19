import { homeFolder } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { inertLine } from "../../lib/inert.ts";
import { findAcpProgram } from "../../runner/acp/acp-program.ts";
import { type Message, parseMessage, record, text } from "../../runner/message.ts";
import { type Check, finding, plainEnv } from "./check.ts";
import { settingsOf } from "./settings.ts";

const HELLO = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };
const WAIT_MS = 15_000;

/** Silent without a configured agent; with one it is started and greeted, because only that shows whether it speaks the protocol. */
export const acpCheck: Check = {
  id: "acp",
  async look(input, deps) {
    const acp = settingsOf(input)?.settings.acp;
    if (acp === undefined || acp.command === null) return [];
    const place = { path: input.env.PATH, workspace: input.paths.root, home: homeFolder(input.env) };
    const found = findOrFault(() => findAcpProgram(acp, place));
    if (found instanceof CruError) return [finding("acp", "warn", found.message, found.hint ?? "correct acp.command")];
    const run = await deps.run(found.path, found.args, { env: plainEnv(input.env), cwd: "/", input: `${JSON.stringify(HELLO)}\n`, timeoutMs: WAIT_MS, maxBytes: 1 << 20 });
    const answer = run.stdout.split("\n").map(parseMessage).find((message) => message?.id === 0);
    if (answer === undefined) return [finding("acp", "warn", `${found.path} did not answer as an ACP agent`, "run it by hand; it must speak the Agent Client Protocol on stdin and stdout")];
    return [greeted(record(answer.result))];
  },
};

function greeted(result: Message): ReturnType<typeof finding> {
  const info = record(result.agentInfo);
  const name = inertLine(`${text(info.name) || "an agent"} ${text(info.version)}`, 120);
  if (result.protocolVersion === 1) return finding("acp", "ok", name);
  return finding("acp", "warn", `${name} speaks version ${inertLine(String(result.protocolVersion), 20)} of the protocol, not version 1`, "install a version of it that speaks version 1");
}

function findOrFault<T>(find: () => T): T | CruError {
  try {
    return find();
  } catch (error) {
    if (error instanceof CruError) return error;
    throw error;
  }
}
