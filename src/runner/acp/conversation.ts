import { RequestError } from "@agentclientprotocol/sdk";
import type { RunDeps, RunRequest } from "../../contract/runner.ts";
import { boundedText } from "../../lib/bounded-text.ts";
import { BUILD } from "../../lib/build.ts";
import { inertLine } from "../../lib/inert.ts";
import type { ProgramEnd } from "../../lib/subprocess.ts";
import type { ModelFailureNote } from "../../sandbox/model-proxy.ts";
import type { SandboxedProgram } from "../../sandbox/start-sandboxed.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { firstMessage } from "../agent-sandbox.ts";
import { answerInWords, askInWords, type PersonDeps } from "../ask-person.ts";
import { detectQuestion } from "../detect-question.ts";
import { type RunFacts, type Stopped, stopForFailure } from "../ending.ts";
import { extractAgentOutput } from "../extract-agent-output.ts";
import type { GatePolicy } from "../gate.ts";
import { type Message, record, text } from "../message.ts";
import type { Usage } from "../usage.ts";
import { watchProgress } from "../watch-progress.ts";
import { connectAgent } from "./connect.ts";
import { mustBeGated, ranAgainst } from "./gate.ts";
import { actionOf } from "./permission.ts";
import { requestHandler } from "./requests.ts";
import { type AgentSession, introduce, openSession } from "./session.ts";
import { translator } from "./translate.ts";
import { openMeter } from "./usage.ts";

export type AcpEnd = RunFacts & {
  exit: ProgramEnd;
  stderr: string;
  /** How the last prompt was answered, when it was. */
  stopReason: string | undefined;
  /** An error that the agent answered with. */
  error: { code: number; message: string; data: Message } | undefined;
  text: string;
};

export type ConversationInput = {
  request: RunRequest;
  deps: RunDeps;
  memory: AgentMemory;
  policy: GatePolicy;
  child: SandboxedProgram;
  /** From the polite signal to the last one. */
  graceMs: number;
};

/** How long an agent has to end its turn by itself once it was told to. */
const CANCEL_MS = 2000;
const CLOSING_MS = 2000;
const MOST_REMINDERS = 3;
const AFRESH = "An earlier process worked on this task and was interrupted; its conversation is lost, but its work may be in the workspace. Look at that first, and do not repeat what is done.";

/** Talks with a running agent until it has ended. `modelFailure` hears what the proxy saw. */
export function converse(input: ConversationInput): { ended: Promise<AcpEnd>; modelFailure(note: ModelFailureNote): void } {
  const { request, deps, memory, policy, child } = input;
  const { program } = child;
  const span_id = request.agent.spanId;
  const stderr = boundedText(64 << 10, "tail");
  const asking = new Set<AbortController>();
  const person: PersonDeps = { ask: (question) => whileWaiting(() => deps.ask(question)), memory, allowedAll: new Set() };
  const end: Omit<AcpEnd, "exit" | "stderr" | "usage"> & { usage: Usage[] } = {
    stopped: undefined, usage: [], denials: [], lastDenied: false, failure: undefined, stopReason: undefined, error: undefined, text: "",
  };
  const meter = openMeter(memory);
  let session: AgentSession | undefined;
  let isPrompting = false;
  let isMuted = false;
  let closing: NodeJS.Timeout | undefined;
  let reminders = 0;
  let fault: unknown;

  const watch = watchProgress(request.limits, (why) => stop({ why }));
  deps.onRunning?.({ paused: watch.paused });

  /** The agent is asked to end its turn; then, or when it does not, the program is ended. */
  const stop = (why: Stopped): void => {
    if (end.stopped !== undefined) return;
    end.stopped = why;
    watch.stop();
    for (const controller of asking) controller.abort();
    if (session === undefined || !isPrompting) return kill();
    link.notify("session/cancel", { sessionId: session.id });
    clearTimeout(closing);
    closing = setTimeout(kill, CANCEL_MS);
  };

  const kill = (): void => {
    clearTimeout(closing);
    program.stdin?.end();
    program.stop(child.softStop, input.graceMs);
  };

  /** The work is over: an agent ends when its input does, and is helped when it does not. */
  const finish = (): void => {
    watch.stop();
    program.stdin?.end();
    clearTimeout(closing);
    closing = setTimeout(kill, CLOSING_MS);
  };

  const whileWaiting = <T>(wait: () => Promise<T>): Promise<T> => {
    events.status("waiting");
    return watch.paused(wait).finally(() => events.status("thinking"));
  };

  /** What our own side throws (a full disk, a bug) must not leave an agent running that nobody answers. */
  const failed = (error: unknown): void => {
    fault ??= error;
    stop({ why: "cancelled" });
  };

  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failed(error);
    }
  };

  const warn = (message: string): void => deps.emit({ type: "warning", span_id, message: inertLine(message, 1000) });

  const requests = requestHandler({
    policy, person, workspace: request.workspace, emit: (event) => deps.emit(event), span_id,
    known: (said) => events.asks(said),
    denied(action, reason) {
      end.lastDenied = true;
      end.denials.push({ action, reason });
    },
    allowed: () => void (end.lastDenied = false),
    suspended: (inboxId) => stop({ why: "suspended", inboxId }),
  });

  const events = translator(span_id, deps.emit, (call) => {
    const decided = requests.decided(call.id);
    if (decided === "refused") warn(`the agent says that it ran what was refused: ${actionOf(call)}`);
    const against = decided === undefined ? ranAgainst(call, policy, person.allowedAll) : undefined;
    if (against !== undefined) stop({ why: "ungated", message: `the agent was stopped: ${against}` });
  });

  const link = connectAgent(program, {
    update: (params) => guarded(() => {
      const update = record(params.update);
      if (isMuted || (session !== undefined && text(params.sessionId) !== session.id)) return;
      if (update.sessionUpdate === "usage_update") overBudget(update);
      if (events.update(update)) watch.progress();
    }),
    raw: (line) => guarded(() => deps.emit({ type: "agent.raw", span_id, text: line })),
    async request(method, params, signal) {
      if (end.stopped !== undefined || session === undefined || text(params.sessionId) !== session.id) throw RequestError.invalidRequest(undefined, "there is no such session at work");
      const controller = new AbortController();
      asking.add(controller);
      try {
        return await requests.answer(method, params, AbortSignal.any([signal, controller.signal]));
      } catch (error) {
        if (!(error instanceof RequestError)) failed(error);
        throw error;
      } finally {
        asking.delete(controller);
      }
    },
  });

  const overBudget = (update: Message): void => {
    meter.update(update);
    const { budgetUsd } = request.limits;
    if (budgetUsd !== null && (meter.spentUsd() ?? 0) > budgetUsd) stop({ why: "budget", message: "the budget for this agent is used up" });
  };

  const prompt = async (sessionId: string, words: string): Promise<string> => {
    isPrompting = true;
    let answer: Message | undefined;
    try {
      answer = await link.request("session/prompt", { sessionId, prompt: [{ type: "text", text: words }] });
    } finally {
      isPrompting = false;
      events.endTurn();
      end.text = events.finalText();
      const used = meter.turn(answer);
      end.usage.push(used);
      deps.emit({ type: "agent.usage", span_id, model: used.model, tokens: used.tokens, cost_usd: used.costUsd, estimated: used.estimated });
    }
    return text(answer.stopReason);
  };

  /** What the agent is told next; undefined when the turn was the last. */
  const follow = async (stopReason: string): Promise<string | undefined> => {
    const refused = requests.takeRefusals();
    const found = extractAgentOutput(end.text);
    if ((stopReason !== "end_turn" && stopReason !== "cancelled") || request.expectsOutput !== true || (found.ok && found.output.success)) return undefined;
    // The protocol's no has no place for a reason, so an agent that gave up hears it now.
    const told = refused.filter(({ wish }) => wish !== undefined || (end.text === "" && stopReason === "end_turn"));
    if (told.length > 0 && reminders++ < MOST_REMINDERS) return `${told.map(({ action, reason }) => `Not allowed: ${action} (${reason}).`).join("\n")}\nGo on with that in mind, or report that you cannot.`;
    if (found.ok || stopReason !== "end_turn") return undefined;
    const question = detectQuestion(end.text);
    if (question === undefined) return undefined;
    const controller = new AbortController();
    asking.add(controller);
    const asked = await askInWords(question, end.text, person, controller.signal).finally(() => asking.delete(controller));
    if (asked.kind === "suspended") stop({ why: "suspended", inboxId: asked.inboxId });
    return asked.kind === "suspended" || asked.answer.status === "withdrawn" ? undefined : answerInWords(asked.answer);
  };

  const drive = async (): Promise<void> => {
    const facts = await introduce(link, BUILD);
    watch.progress();
    if ("unsupported" in facts) return stop({ why: "ungated", message: `the agent speaks version ${String(facts.unsupported)} of the protocol; this Crucible speaks version 1` });
    if (mustBeGated(policy) && !facts.isClaude) {
      return stop({ why: "ungated", message: `${facts.name} cannot be made to ask before each step, which this agent's requires_approval needs; use the runner claude or model for it` });
    }
    session = await openSession(link, facts, { request, memory, policy, warn, mute: (on) => (isMuted = on) });
    if (session.id === "") throw new RequestError(-32603, "the agent gave its session no id");
    meter.model(session.model);
    memory.session = session.id;
    memory.save();
    deps.emit({ type: "agent.process", span_id, runner: "acp", version: `${facts.name} ${facts.version}`, external_session: session.id, resumed: session.resumed, sandboxed: child.sandboxed });
    watch.progress();
    const system = session.hasSystem || request.system === "" ? [] : [request.system];
    const first = firstMessage(request, session.resumed);
    let words: string | undefined = session.resumed ? first : [...system, ...(request.resume ? [AFRESH] : []), first].join("\n\n");
    while (words !== undefined && end.stopped === undefined) {
      end.stopReason = await prompt(session.id, words);
      watch.progress();
      words = await follow(end.stopReason);
    }
  };

  const driving = drive()
    .catch((error: unknown) => {
      if (error instanceof RequestError) end.error = { code: error.code, message: error.message, data: record(error.data) };
      // The connection ends with the program; what is said of that comes from its end.
      else if (program.stdin?.writable === true) failed(error);
    })
    .finally(() => (end.stopped === undefined ? finish() : kill()));

  program.stdout?.once("end", () => (closing ??= setTimeout(() => stop({ why: "silent" }), 1000)));
  program.stderr?.on("data", (chunk: Buffer) => {
    stderr.add(chunk);
    guarded(() => deps.emit({ type: "agent.stderr", span_id, text: chunk.toString("utf8") }));
  });
  const onAbort = (): void => stop({ why: "cancelled" });
  deps.signal.addEventListener("abort", onAbort, { once: true });
  if (deps.signal.aborted) onAbort();

  const ended = program.ended.then(async (exit) => {
    link.end();
    for (const controller of asking) controller.abort();
    // An answer that came with the last line still counts; a person who is asked no longer does.
    await Promise.race([driving, new Promise((resolve) => setTimeout(resolve, 200))]);
    clearTimeout(closing);
    watch.stop();
    deps.signal.removeEventListener("abort", onAbort);
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
