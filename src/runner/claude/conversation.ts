import type { RunDeps, RunRequest } from "../../contract/runner.ts";
import type { ProgramEnd } from "../../lib/subprocess.ts";
import type { ModelFailureNote } from "../../sandbox/model-proxy.ts";
import type { SandboxedProgram } from "../../sandbox/start-sandboxed.ts";
import { boundedText } from "../../lib/bounded-text.ts";
import { answerInWords, askInWords } from "../ask-person.ts";
import { detectQuestion } from "../detect-question.ts";
import { type RunFacts, type Stopped, stopForFailure } from "../ending.ts";
import { extractAgentOutput } from "../extract-agent-output.ts";
import type { GatePolicy } from "../gate.ts";
import { lineReader } from "../line-reader.ts";
import { amount, type Message, parseMessage, record, records, text } from "../message.ts";
import type { Usage } from "../usage.ts";
import { watchProgress } from "../watch-progress.ts";
import type { AgentState } from "./agent-state.ts";
import { hookedTools, judge } from "./gate.ts";
import { answerToolRequest, type QuestionDeps } from "./questions.ts";
import { serverStatus } from "./server-status.ts";
import { translator } from "./translate.ts";
import { openCalls, usageOfResult } from "./usage.ts";

export type ProcessEnd = RunFacts & {
  exit: ProgramEnd;
  /** The last result line; everything the outcome says of success comes from it. */
  result: Message | undefined;
  stderr: string;
};

export type ConversationInput = {
  request: RunRequest;
  deps: RunDeps;
  state: AgentState;
  policy: GatePolicy;
  child: SandboxedProgram;
  firstMessage: string;
  /** From the polite signal to the last one. */
  graceMs: number;
};

const CLOSING_MS = 5000;
const HOOK = "crucible-gate";
const INITIALIZE = "initialize";
const SERVERS = "servers";

/** Talks with a running CLI until it has ended. `modelFailure` hears what the proxy saw. */
export function converse(input: ConversationInput): { ended: Promise<ProcessEnd>; modelFailure(note: ModelFailureNote): void } {
  const { request, deps, state, policy, child } = input;
  const { program } = child;
  const span_id = request.agent.spanId;
  const events = translator(request, deps.emit);
  const calls = openCalls();
  const stderr = boundedText(64 << 10, "tail");
  const asking = new Map<string, AbortController>();
  const questions: QuestionDeps = { ask: (question) => watch.paused(() => deps.ask(question)), policy, memory: state.memory, allowedAll: new Set() };
  const end: Omit<ProcessEnd, "exit" | "stderr" | "usage"> & { usage: Usage[] } = { stopped: undefined, result: undefined, usage: [], denials: [], lastDenied: false, failure: undefined };
  let background = 0;
  let closing: NodeJS.Timeout | undefined;

  const watch = watchProgress(request.limits, (why) => stop({ why }));
  deps.onRunning?.({ paused: watch.paused });

  const stop = (why: Stopped): void => {
    if (end.stopped !== undefined) return;
    end.stopped = why;
    watch.stop();
    for (const controller of asking.values()) controller.abort();
    program.stop(child.softStop, input.graceMs);
  };

  const send = (message: Message): void => void (program.stdin?.writable === true && program.stdin.write(`${JSON.stringify(message)}\n`));
  const say = (content: string): void => send({ type: "user", message: { role: "user", content } });
  const reply = (id: unknown, response: Message): void => send({ type: "control_response", response: { subtype: "success", request_id: id, response } });

  const servers = serverStatus({
    warn: (warning) => deps.emit({ type: "warning", span_id, message: warning }),
    ask: () => send({ type: "control_request", request_id: SERVERS, request: { subtype: "mcp_status" } }),
  });

  /** The work is over: the CLI ends when its input does, and is helped when it does not. */
  const finish = (): void => {
    watch.stop();
    program.stdin?.end();
    closing = setTimeout(() => program.stop(child.softStop, input.graceMs), CLOSING_MS);
  };

  const toolRequest = async (id: string, body: Message): Promise<void> => {
    const controller = new AbortController();
    asking.set(id, controller);
    const decision = await answerToolRequest(body, { ...questions, ask: waiting(questions.ask) }, controller.signal);
    asking.delete(id);
    if (decision.kind === "suspended") return stop({ why: "suspended", inboxId: decision.inboxId });
    if (decision.kind === "withdrawn") return;
    end.lastDenied = decision.denied !== undefined;
    if (decision.denied !== undefined) end.denials.push({ action: decision.denied, reason: text(decision.response.message) });
    reply(id, decision.response);
  };

  const waiting = (ask: RunDeps["ask"]): RunDeps["ask"] => async (question) => {
    events.status("waiting");
    return ask(question).finally(() => events.status("thinking"));
  };

  const control = (message: Message): void => {
    const [id, body] = [text(message.request_id), record(message.request)];
    if (body.subtype === "can_use_tool") return void toolRequest(id, body).catch((error: unknown) => failed(error));
    if (body.subtype !== "hook_callback") return send({ type: "control_response", response: { subtype: "error", request_id: id, error: `not supported: ${text(body.subtype)}` } });
    const call = record(body.input);
    const verdict = judge({ tool: text(call.tool_name), input: record(call.tool_input), bySubagent: text(call.agent_id) !== "" }, policy, questions.allowedAll);
    if (verdict.kind === "allow") return reply(id, {});
    if (verdict.kind === "deny") end.denials.push({ action: text(call.tool_name), reason: verdict.reason });
    reply(id, { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: verdict.kind, permissionDecisionReason: verdict.reason } });
  };

  const result = (message: Message): void => {
    end.result = message;
    const counted = usageOfResult(message, state.memory.counted);
    state.memory.counted = counted.counted;
    state.memory.save();
    calls.settled();
    tellUsage(counted.usage);
    if (background > 0) return;
    const words = text(message.result);
    const question = message.is_error === true || request.expectsOutput !== true || message.structured_output !== undefined || extractAgentOutput(words).ok ? undefined : detectQuestion(words);
    if (question === undefined) return finish();
    const controller = new AbortController();
    asking.set("words", controller);
    void askInWords(question, words, { ...questions, ask: waiting(questions.ask) }, controller.signal)
      .then((asked) => {
        asking.delete("words");
        if (asked.kind === "suspended") return stop({ why: "suspended", inboxId: asked.inboxId });
        if (asked.answer.status === "withdrawn") return undefined;
        return say(answerInWords(asked.answer));
      })
      .catch((error: unknown) => failed(error));
  };

  /** What our own side throws (a full disk, a bug) must not leave an agent running that nobody answers. */
  let fault: unknown;
  const failed = (error: unknown): void => {
    fault ??= error;
    stop({ why: "cancelled" });
  };

  const tellUsage = (usage: readonly Usage[]): void => {
    end.usage.push(...usage);
    for (const u of usage) deps.emit({ type: "agent.usage", span_id, model: u.model, tokens: u.tokens, cost_usd: u.costUsd, estimated: u.estimated });
  };

  const take = (message: Message): void => {
    if (end.stopped !== undefined && message.type === "control_request") return;
    if (events.line(message)) watch.progress();
    if (message.type === "stream_event") calls.message(record(message.event));
    if (message.subtype === "init") servers.begin(records(message.mcp_servers));
    if (message.type === "assistant") servers.gotOn();
    if (message.type === "control_response" && record(message.response).request_id === SERVERS) servers.answer(records(record(record(message.response).response).mcpServers));
    if (message.subtype === "background_tasks_changed") background = records(message.tasks).length;
    if (message.subtype === "api_retry" && [401, 403].includes(amount(message.error_status))) stop({ why: "auth" });
    if (message.type === "rate_limit_event") rateLimit(record(message.rate_limit_info));
    if (message.type === "control_request") control(message);
    // Without its hooks the CLI would let pass what must be asked about.
    if (message.type === "control_response" && record(message.response).request_id === INITIALIZE && record(message.response).subtype === "error") stop({ why: "ungated", message: "this version of claude does not take our gates; nothing was run" });
    if (message.type === "control_cancel_request") asking.get(text(message.request_id))?.abort();
    if (message.type === "result") result(message);
  };

  const rateLimit = (info: Message): void => {
    const at = new Date(amount(info.resetsAt) * 1000);
    if (info.status === "rejected" && at.getTime() > Date.now()) stop({ why: "parked", status: 429, resetAt: at });
  };

  const lines = lineReader({
    line(line) {
      const message = parseMessage(line);
      if (message !== undefined && typeof message.type === "string") return guarded(() => take(message));
      return guarded(() => deps.emit({ type: "agent.raw", span_id, text: rawText(line) }));
    },
    cut: (head, bytes) => guarded(() => deps.emit({ type: "agent.raw", span_id, text: `${head}\n[… ${bytes} bytes cut …]` })),
  });

  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };

  program.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
  // Nothing more can be heard from it, so nothing more can come of it.
  program.stdout?.once("end", () => (closing ??= setTimeout(() => stop({ why: "silent" }), 1000)));
  program.stderr?.on("data", (chunk: Buffer) => {
    stderr.add(chunk);
    guarded(() => deps.emit({ type: "agent.stderr", span_id, text: chunk.toString("utf8") }));
  });
  const onAbort = (): void => stop({ why: "cancelled" });
  deps.signal.addEventListener("abort", onAbort, { once: true });
  if (deps.signal.aborted) onAbort();

  const matcher = hookedTools(policy).join("|");
  send({
    type: "control_request", request_id: INITIALIZE,
    request: { subtype: "initialize", ...(request.system === "" ? {} : { appendSystemPrompt: request.system }), hooks: { PreToolUse: [{ matcher, hookCallbackIds: [HOOK] }] } },
  });
  say(input.firstMessage);

  const ended = program.ended.then((exit) => {
    lines.end();
    clearTimeout(closing);
    watch.stop();
    for (const controller of asking.values()) controller.abort();
    deps.signal.removeEventListener("abort", onAbort);
    tellUsage(calls.left());
    events.end();
    if (fault !== undefined) throw fault;
    return { ...end, exit, stderr: stderr.text() };
  });

  return {
    ended,
    modelFailure(note) {
      end.failure = note;
      const why = stopForFailure(note);
      if (why !== undefined) stop(why);
    },
  };
}

const LONGEST_RAW = 256 << 10;

/** A line that is no message is kept for whoever looks into it; what nobody could read is not worth the memory. */
function rawText(line: string): string {
  return line.length <= LONGEST_RAW ? line : `${line.slice(0, LONGEST_RAW)}\n[… ${line.length - LONGEST_RAW} characters cut …]`;
}
