import type { Transport } from "@modelcontextprotocol/client";
import { CruError } from "../../contract/error.ts";
import type { Ask } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { inertLine } from "../../lib/inert.ts";
import { createRedactor } from "../../lib/redact.ts";
import { type Appeared, moveAppeared, protectedState } from "../../sandbox/appeared.ts";
import type { AgentMarker } from "../../sandbox/marker.ts";
import { startSandboxed } from "../../sandbox/start-sandboxed.ts";
import { callClock, type CallClock } from "./call-clock.ts";
import { elicit, type Elicited } from "./elicit.ts";
import { httpAddress, httpTransport } from "./http-transport.ts";
import type { McpLimits } from "./limits.ts";
import { type McpLink, openLink, type RawResult, type Sdk, unlessAborted } from "./mcp-link.ts";
import { serverProgram } from "./server-program.ts";
import { type StdioTransport, stdioTransport } from "./stdio-transport.ts";

const MOST_RESTARTS = 3;
const MOST_QUESTIONS = 5;

export type ServerDeps = {
  sdk: Sdk;
  /** Real path of the folder that the agent works in. */
  workspace: string;
  home: string;
  path: string | undefined;
  mode: Settings["sandbox"]["mode"];
  marker?: AgentMarker;
  /** Where protected paths that a server made are put; a new private folder by default. */
  asideFolder?: string;
  /** Ends the server. */
  signal?: AbortSignal;
  limits: McpLimits;
};

export type ServerCall = { tool: string; input: Record<string, unknown>; callId: string; signal: AbortSignal; ask: Ask | undefined };
type Answered = { ok: true; result: RawResult; declined: number } | { ok: false; why: string };
export type ServerAnswer = Answered & {
  /** Protected paths that the server made, moved out of the workspace. */
  appeared: Appeared[];
};

/** A configured server: started, started again when it died, and closed with everything it started. */
export type OpenServer = {
  tools: unknown[];
  isCut: boolean;
  /** Never throws, never waits for ever. */
  call(call: ServerCall): Promise<ServerAnswer>;
  /** Secrets of the server's own settings, should it print them. */
  redact(text: string): string;
  close(): Promise<void>;
};

/** Throws a `CruError` that says why the server cannot be used. */
export async function openServer(name: string, server: McpServer, deps: ServerDeps): Promise<OpenServer> {
  const redact = createRedactor(server.env ?? {}).text;
  const inFlight: { callId: string; ask: Ask | undefined; clock: CallClock; questions: number; declined: number }[] = [];
  let restarts = 0;
  let isClosed = false;
  let transport: Transport | StdioTransport | undefined;

  const unlessEnded = (signal: AbortSignal): AbortSignal => (deps.signal === undefined ? signal : AbortSignal.any([signal, deps.signal]));
  const connect = async (): Promise<McpLink> => {
    if (deps.signal?.aborted === true) throw new CruError("failed", "it was stopped");
    transport = await openTransport(server, deps);
    const clock = callClock(deps.limits.startMs);
    try {
      return await openLink(transport, { sdk: deps.sdk, elicit: answerQuestion, signal: unlessEnded(clock.signal) });
    } catch (error) {
      throw unusable(error, clock);
    } finally {
      clock.stop();
    }
  };

  let link = await connect();
  let reconnecting: Promise<McpLink> | undefined;
  const clock = callClock(deps.limits.startMs);
  const listing = await link.list({ most: deps.limits.toolsPerServer, signal: unlessEnded(clock.signal) }).catch(async (error: unknown) => {
    await link.close();
    throw unusable(error, clock);
  }).finally(clock.stop);

  return { ...listing, call, redact, close };

  async function call(wanted: ServerCall): Promise<ServerAnswer> {
    if (server.url !== undefined || deps.mode !== "required" || !mayWrite(server)) return { ...(await answered(wanted)), appeared: [] };
    const before = protectedState(deps.workspace);
    const answer = await answered(wanted);
    return { ...answer, appeared: moveAppeared(deps.workspace, before, { allowed: [], folder: deps.asideFolder }) };
  }

  async function answered({ tool, input, callId, signal, ask }: ServerCall): Promise<Answered> {
    const time = callClock(deps.limits.callMs);
    const running = { callId, ask, clock: time, questions: 0, declined: 0 };
    inFlight.push(running);
    try {
      const either = AbortSignal.any([signal, time.signal]);
      const result = await (await unlessAborted(living(), either)).call(tool, input, either);
      return { ok: true, result, declined: running.declined };
    } catch (error) {
      if (signal.aborted) return { ok: false, why: "the call was stopped" };
      if (time.signal.aborted) return { ok: false, why: `no answer within ${deps.limits.callMs / 1000} s` };
      return { ok: false, why: error instanceof CruError ? error.message : describe(error) };
    } finally {
      time.stop();
      inFlight.splice(inFlight.indexOf(running), 1);
    }
  }

  /** The connection, made anew when the server had died. What it knew is lost, so it is not done without end. */
  async function living(): Promise<McpLink> {
    if (isClosed) throw new CruError("failed", "the server was closed");
    if (!link.isOver()) return link;
    if (restarts >= MOST_RESTARTS) throw new CruError("failed", `the server ended ${MOST_RESTARTS + 1} times and is not started again`);
    reconnecting ??= connect().finally(() => {
      restarts += 1;
      reconnecting = undefined;
    });
    link = await reconnecting;
    if (isClosed) await link.close();
    return link;
  }

  /** A server may only ask while it is being called; the question belongs to the newest call, whose time stands still. */
  async function answerQuestion({ message, schema }: { message: string; schema: unknown }): Promise<Elicited> {
    const running = inFlight.at(-1);
    if (running === undefined) return { action: "decline" };
    running.questions += 1;
    const key = `${running.callId}-mcp-${running.questions}`;
    running.clock.pause();
    const ask = running.questions > MOST_QUESTIONS ? undefined : running.ask;
    const answer: Elicited = ask === undefined ? { action: "decline" } : await elicit({ server: name, message: redact(message), schema, key }, ask);
    running.clock.resume();
    if (answer.action === "decline") running.declined += 1;
    return answer;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await reconnecting?.catch(() => {});
    await link.close().catch(() => {});
  }

  function unusable(error: unknown, time: CallClock): CruError {
    if (error instanceof CruError) return error;
    return new CruError("failed", describe(time.signal.aborted ? new Error(`it did not answer within ${deps.limits.startMs / 1000} s`) : error));
  }

  function describe(error: unknown): string {
    const reason = transport !== undefined && "reason" in transport ? transport.reason() : "";
    const said = transport !== undefined && "said" in transport ? transport.said() : "";
    const message = reason !== "" ? reason : error instanceof Error ? error.message : String(error);
    return redact(inertLine(`${message}${said === "" ? "" : `; it said: ${said}`}`, 1000));
  }
}

function mayWrite(server: McpServer): boolean {
  return server.permissions === undefined || server.permissions.includes("FilesystemWrite");
}

function isOnline(server: McpServer): boolean {
  return server.permissions === undefined || server.permissions.includes("NetworkAccess");
}

export type TransportDeps = Pick<ServerDeps, "sdk" | "workspace" | "home" | "path" | "mode" | "marker" | "limits">;

/** Throws a `CruError` when the program is not there or the address is none. */
export async function openTransport(server: McpServer, deps: TransportDeps): Promise<Transport> {
  const { messageBytes } = deps.limits;
  if (server.url !== undefined) {
    const url = httpAddress(server.url);
    if (url === undefined) throw new CruError("failed", "its url is not an http or https address");
    return httpTransport(url, deps.sdk, { messageBytes });
  }
  const found = serverProgram({ command: server.command ?? "", ...(server.args === undefined ? {} : { args: server.args }) }, deps);
  if (!found.ok) throw new CruError("failed", found.why);
  const child = await startSandboxed(
    {
      workspace: deps.workspace,
      home: deps.home,
      writable: mayWrite(server),
      binds: found.shown.map((from) => ({ from })),
      ...(deps.marker === undefined ? {} : { marker: deps.marker }),
      ...(server.hosts === undefined || !isOnline(server) ? {} : { network: { hosts: server.hosts } }),
    },
    found.command,
    { mode: deps.mode, stdin: "pipe", ...(server.env === undefined ? {} : { env: server.env }) },
  );
  return stdioTransport(child, { messageBytes });
}
