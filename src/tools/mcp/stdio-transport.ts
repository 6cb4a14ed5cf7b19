import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { boundedText } from "../../lib/bounded-text.ts";
import type { ProgramEnd } from "../../lib/subprocess.ts";
import { sandboxFault, sandboxMissing } from "../../sandbox/probe.ts";
import type { SandboxedProgram } from "../../sandbox/start-sandboxed.ts";
import { isRecord } from "./clean-schema.ts";

const POLITE_MS = 500;
const NEWLINE = 0x0a;

export type StdioTransport = Transport & {
  /** What it last said on stderr. */
  said(): string;
  /** Why it is over, when that was not our doing. */
  reason(): string;
};

/** One JSON-RPC message per line over the pipes of a program that is already running. Lines that are none are skipped: some servers log there. */
export function stdioTransport(child: SandboxedProgram, options: { messageBytes: number }): StdioTransport {
  const { program } = child;
  const stderr = boundedText(2048, "tail");
  let line: Buffer[] = [];
  let lineBytes = 0;
  let reason = "";
  let closing: Promise<void> | undefined;

  const transport: StdioTransport = {
    async start() {
      program.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk)).on("error", () => {});
      program.stdout?.on("data", take).on("error", () => {});
      void program.ended.then(async (end) => {
        if (closing === undefined) reason ||= whyEnded(end);
        await child.sweep();
        transport.onclose?.();
      });
    },
    async send(message) {
      if (closing !== undefined || program.stdin?.writable !== true) throw new Error("the server no longer listens");
      program.stdin.write(`${JSON.stringify(message)}\n`);
    },
    close: () => (closing ??= end()),
    said: () => stderr.text().trim(),
    reason: () => reason,
  };
  return transport;

  function whyEnded(end: ProgramEnd): string {
    if (end.failure !== null) return end.failure.message;
    if (!child.isReady()) return sandboxMissing(sandboxFault(stderr.text())).message;
    return end.signal === null ? `it ended with exit code ${end.code}` : `it was ended by ${end.signal}`;
  }

  function take(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      line.push(chunk.subarray(from, at));
      deliver(Buffer.concat(line).toString("utf8"));
      line = [];
      lineBytes = 0;
      from = at + 1;
    }
    line.push(chunk.subarray(from));
    lineBytes += chunk.length - from;
    if (lineBytes > options.messageBytes) refuse();
  }

  function deliver(text: string): void {
    try {
      const message: unknown = JSON.parse(text);
      if (isRecord(message) && message.jsonrpc === "2.0") transport.onmessage?.(message as JSONRPCMessage);
    } catch (error) {
      transport.onerror?.(error as Error);
    }
  }

  function refuse(): void {
    reason ||= `it sent a message of more than ${options.messageBytes} bytes`;
    line = [];
    program.stdout?.removeListener("data", take);
    program.stdout?.resume();
    void transport.close();
  }

  /** A server ends when its input does; one that does not is told, then killed. */
  async function end(): Promise<void> {
    program.stdin?.end();
    const timer = setTimeout(() => program.stop(child.softStop), POLITE_MS);
    await program.ended;
    clearTimeout(timer);
    await child.sweep();
  }
}
