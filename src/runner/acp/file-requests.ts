import { RequestError } from "@agentclientprotocol/sdk";
import { isNamedProtected, isProtected, refuseHiddenProtected } from "../../lib/protected-path.ts";
import { type PathFault, readInside, writeInside } from "../../lib/safe-path.ts";
import { amount, type Message, text } from "../message.ts";

const MOST_BYTES = 10 << 20;

/** Reads a file of the workspace for the agent: it may be one that lies in no sandbox, so nothing else is ever opened. */
export function readForAgent(params: Message, workspace: string): { content: string } {
  const path = text(params.path);
  const read = readInside(workspace, path, { maxBytes: MOST_BYTES });
  if (!read.ok) throw refused(read);
  if (read.size > MOST_BYTES) throw RequestError.invalidParams(undefined, `${path} is larger than ${MOST_BYTES >> 20} MB`);
  if (read.bytes.includes(0)) throw RequestError.invalidParams(undefined, `${path} is not a text file`);
  const whole = read.bytes.toString("utf8");
  const [from, limit] = [Math.max(1, amount(params.line)), amount(params.limit)];
  if (from === 1 && limit === 0) return { content: whole };
  const lines = whole.split("\n");
  return { content: lines.slice(from - 1, limit === 0 ? undefined : from - 1 + limit).join("\n") };
}

/** Replaces or makes a file of the workspace, in one step. What configures agents and git is refused, by name and by where links lead. */
export function writeForAgent(params: Message, workspace: string): void {
  const path = text(params.path);
  if (typeof params.content !== "string" || Buffer.byteLength(params.content) > MOST_BYTES) throw RequestError.invalidParams(undefined, `the content must be text of at most ${MOST_BYTES >> 20} MB`);
  if (path !== "" && (isNamedProtected(workspace, path) || isProtected(workspace, path))) throw RequestError.invalidParams(undefined, `${path} is protected`);
  const wrote = writeInside(workspace, path, params.content, { refuse: refuseHiddenProtected(workspace, path) });
  if (!wrote.ok) throw refused(wrote);
}

function refused(fault: PathFault): RequestError {
  return fault.code === "missing" ? new RequestError(-32002, fault.message) : RequestError.invalidParams(undefined, fault.message);
}
