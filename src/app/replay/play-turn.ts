import type { CruEvent, NewEvent } from "../../contract/event.ts";
import type { ModelFailure, StreamModel } from "../../contract/model-call.ts";
import type { AgentIdentity, Ask } from "../../contract/runner.ts";
import type { AnyTool } from "../../contract/tool.ts";
import type { Redactor } from "../../lib/redact.ts";
import { changesOf, type RequestChange, type RequestEvent, requestReader } from "./full-request.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import { playedRequests } from "./played-requests.ts";
import { recordedReply } from "./recorded-reply.ts";
import { recordedStop } from "./recorded-stop.ts";
import type { RecordedTurn } from "./turns.ts";

/** Where the replay first went another way. `call` counts the calls of the session from 1; null when none is concerned. */
export type Divergence = { call: number | null; agent: string; kind: "request" | "missing" | "extra" | "question"; message: string; changes: RequestChange[] };

export type Player = {
  stream: StreamModel;
  ask(identity: AgentIdentity, explain: (title: string, text: string) => Promise<string>): Ask;
  tools(tools: readonly AnyTool[], identity: AgentIdentity): AnyTool[];
  isRevoked(id: string, callId: string): boolean;
  takeGuidance(): string[];
  /** Hears everything that the replayed agents do. */
  hear(event: NewEvent): void;
  signal: AbortSignal;
  /** What is left over at the end is a divergence too. */
  finish(): { calls: number; results: number; questions: number; divergence: Divergence | undefined };
};

type Expected = { event: RequestEvent; call: number };

/** Plays one recorded turn to agents that run for real: answers models, tools and people from it, and compares every request. */
export function playTurn(turn: RecordedTurn, firstCall: number, spanOfPrimary: string, deps: { redactor: Redactor }): Player {
  const over = new AbortController();
  const then = requestReader();
  const now = requestReader();
  const names = new Map([...turn.before, ...turn.events].flatMap((e) => (e.type === "agent.started" ? [[e.span_id ?? "", e.agent] as const] : [])));
  const requests = playedRequests(turn.events);
  const expected = new Map<string, Expected[]>();
  for (const [i, event] of requests.entries()) push(expected, event.span_id ?? "", { event, call: firstCall + i });
  const fullThen = new Map(requests.map((event) => [event.request_id, then(event)]));
  const replies = new Map(turn.events.flatMap((e) => (e.type === "model.reply" ? [[e.request_id, e] as const] : [])));
  const results = new Map<string, Extract<CruEvent, { type: "agent.tool_result" }>[]>();
  for (const event of turn.events) if (event.type === "agent.tool_result") push(results, `${event.span_id} ${event.call_id}`, event);
  const answers = recordedAnswers(turn);
  const guidance = turn.events.flatMap((e, at) => (e.type === "session.guidance" && e.from !== "answer" ? [{ text: e.text, at }] : []));
  const end = turn.events.findLast((e) => e.type === "agent.completed" && e.span_id === spanOfPrimary);
  const stop = recordedStop(turn.events, () => over.abort());
  // Killed: there is neither an end nor a question that it waits for.
  const killed = end === undefined && !answers.waits();
  const counted = { calls: 0, results: 0, questions: 0 };
  let divergence: Divergence | undefined;
  let next: RequestEvent | undefined;
  let heard = 0;

  return {
    signal: over.signal,
    async stream() {
      const reply = next === undefined ? undefined : replies.get(next.request_id);
      next = undefined;
      if (reply === undefined || divergence !== undefined) return ENDED;
      const recorded = recordedReply(reply);
      if (!recorded.ok && recorded.kind === "aborted") await stopped();
      return recorded;
    },
    ask: (identity, explain) => async (input) => {
      for (const { title, text } of answers.context(identity.spanId, input.key)) await explain(title, text);
      stop.asked(identity.spanId, input.key);
      const asked = answers.take(identity.spanId, input.key);
      if (asked === undefined) {
        diverge({ call: null, agent: identity.name, kind: "question", message: `asks now what it did not ask then: ${input.title}`, changes: [] });
        return { kind: "suspended", inboxId: "" };
      }
      counted.questions += 1;
      return asked;
    },
    tools: (tools, identity) => tools.map((tool) => (ASKS_OR_STARTS.has(tool.name) ? tool : playedTool(tool, identity))),
    isRevoked: (_, callId) => !turn.events.some((e) => e.type === "inbox.reused" && e.call_id === callId),
    takeGuidance() {
      const nextAt = turn.events.indexOf(expected.get(spanOfPrimary)?.[0]?.event as CruEvent);
      return guidance.filter((one) => nextAt < 0 || one.at < nextAt).map((one) => one.text);
    },
    hear(event) {
      heard += 1;
      if (event.type === "model.request") compare(event);
      if (event.type === "session.guidance") remove(guidance, (one) => one.text === deps.redactor.text(event.text));
      if (event.type === "agent.tool_result" && results.get(`${event.span_id} ${event.call_id}`)?.shift() !== undefined) counted.results += 1;
      stop.hear(event);
    },
    finish() {
      // What was sent while it came to its end depends on who noticed first.
      const [missing] = [...expected.values()].flat().filter((e) => stop.at === undefined || turn.events.indexOf(e.event) < stop.at).sort((a, b) => a.call - b.call);
      if (missing !== undefined) {
        diverge({ call: missing.call, agent: names.get(missing.event.span_id ?? "") ?? "", kind: "missing", message: "the recording has this call, and now it is not made", changes: [] });
      }
      const unasked = answers.left();
      if (unasked !== undefined) diverge({ call: null, agent: names.get(unasked.span_id ?? "") ?? "", kind: "question", message: `does not ask now what it asked then: ${unasked.title}`, changes: [] });
      return { ...counted, divergence };
    },
  };

  function compare(event: Omit<RequestEvent, "v" | "ts" | "seq" | "trace_id">): void {
    const span = event.span_id ?? "";
    const is = now(deps.redactor.value(event));
    const want = expected.get(span)?.shift();
    if (want === undefined) {
      if (!killed && !over.signal.aborted) diverge({ call: null, agent: names.get(span) ?? span, kind: "extra", message: "makes a call that is not in the recording", changes: changesOf({ ...is, messages: [] }, is) });
      return;
    }
    next = want.event;
    if (want.event.hash === event.hash) {
      counted.calls += 1;
      return;
    }
    const was = fullThen.get(want.event.request_id);
    const changes = was === undefined ? [] : changesOf(was, is);
    const what = changes.length === 0 ? "its hash, though not its recorded content" : changes.map((c) => c.what).join(", ");
    diverge({ call: want.call, agent: names.get(span) ?? span, kind: "request", message: `the request is different: ${what}`, changes });
  }

  function diverge(found: Divergence): void {
    divergence ??= found;
    over.abort();
  }

  /** What the stop cut off ends with it, when the others are as far as they were then. When they no longer get there, nothing more happens. */
  async function stopped(): Promise<void> {
    for (let before = -1; !over.signal.aborted && heard !== before; ) {
      before = heard;
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    }
    over.abort();
  }

  /** The tool as the model sees it; what it does is in the recording. */
  function playedTool(tool: AnyTool, identity: AgentIdentity): AnyTool {
    return {
      ...tool,
      preview: async () => ({ title: tool.name, body: "", reversible: true }),
      async run(_, { callId }) {
        const result = results.get(`${identity.spanId} ${callId}`)?.[0];
        if (result === undefined) return { ok: false, output: "", suspended: "recording" };
        if (stop.at !== undefined && turn.events.indexOf(result) > stop.at) await stopped();
        return { ok: result.ok, output: answers.wasChanged(identity.spanId, callId) ? result.output.replace(/^\[Changed by the user before it ran: [^\n]*\n/, "") : result.output };
      },
    };
  }
}

/** These only start agents and ask people, and both are played by themselves. */
const ASKS_OR_STARTS = new Set(["spawn_agent", "ask_user", "request_approval"]);

/** Nothing in a replay waits for the world, so an event that has not come by now does not come. */
const IDLE_MS = 200;

const ENDED: ModelFailure = {
  ok: false, kind: "aborted", message: "the recording ends here", hint: "", resetAt: null, partialText: "", tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, attempts: 1,
};

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function remove<T>(list: T[], is: (one: T) => boolean): void {
  const at = list.findIndex(is);
  if (at >= 0) list.splice(at, 1);
}
