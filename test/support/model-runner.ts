import { createModelRunner } from "../../src/app/task/model-runner.ts";
import { choosePrimary, openProject } from "../../src/app/chat/open-chat.ts";
import type { CruEvent, NewEvent } from "../../src/contract/event.ts";
import type { Ask, AskInput, RunRequest } from "../../src/contract/runner.ts";
import { answerQuestion } from "../../src/inbox/answer-question.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Script } from "../../src/scripted/script.ts";
import { openSession } from "../../src/session/open-session.ts";
import { type ClaudeRun, KEY, requestFor, type Stage } from "./claude.ts";
import { answered } from "./loop.ts";
import { scripted } from "./scripted.ts";

export type ModelRunOptions = {
  at: Stage;
  request?: Partial<RunRequest>;
  answer?: (question: AskInput) => ReturnType<Ask>;
  signal?: AbortSignal;
  onEvent?: (event: NewEvent) => void;
};

/** The runner of this process against a scripted model. A list of replies gets a last one: the loop asks once whether the goal was reached. */
export async function runModel(script: Script, { at, ...options }: ModelRunOptions): Promise<ClaudeRun> {
  const reached = { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "all done", content: "all done" } }] };
  const server = await scripted(Array.isArray(script) ? [...script, reached] : script);
  const env = { HOME: at.home, PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url };
  const input = { cwd: at.checkout, env, trust: false, agent: "implementer", model: undefined, allow: [], deny: [], maxIterations: undefined, budgetUsd: undefined };
  const project = await openProject(input);
  const chosen = await choosePrimary(input, project);
  const base = requestFor(at, options.request);
  const session = await openSession({ request: base.prompt, agent: chosen.name, version: chosen.hash, model: chosen.model, modelSource: chosen.modelSource, runner: "model" }, { paths: project.paths, env, clock: systemClock, warn: () => {} });
  const request = { ...base, agent: { ...base.agent, sessionId: session.id, traceId: session.traceId } };
  const [events, recorded, asked]: [NewEvent[], CruEvent[], AskInput[]] = [[], [], []];
  const emit = (event: NewEvent): void => {
    session.emit(event);
    recorded.push({ v: 1, ts: systemClock.now().toISOString(), seq: recorded.length, trace_id: session.traceId, ...event } as CruEvent);
    events.push(event);
    options.onEvent?.(event);
  };
  const runner = createModelRunner({
    project, session, recorded, env, wait: true, ownGit: false, mcp: [], warn: () => {}, onDelta: () => {},
    primary: { ...chosen, permissions: request.permissions, requiresApproval: request.requiresApproval },
    asking(question) {
      const about: AskInput = { ...question, key: question.key ?? question.id, action: question.action === null ? null : { tool: question.action.tool, input: question.action.input }, inputSchema: question.input_schema ?? {}, grant: question.grant ?? "", category: question.category ?? "open" };
      asked.push(about);
      void (options.answer?.(about) ?? Promise.resolve(answered("no", "deny"))).then((given) => {
        if (given.kind === "answered") answerQuestion({ id: question.id, decision: given.answer.decision, text: given.answer.text, ...(question.confirm_word === null ? {} : { confirm: question.confirm_word }) }, { paths: project.paths, clock: systemClock });
      });
    },
  });
  try {
    const outcome = await runner.run(request, { emit, ask: () => Promise.reject(new Error("it asks through the inbox")), signal: options.signal ?? new AbortController().signal });
    return { outcome, events, asked, requests: server.requests, at };
  } finally {
    await session.finish("completed");
  }
}
