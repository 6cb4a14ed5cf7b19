import { createInterface } from "node:readline";
import { type ChatListener, type ChatSession, openChatSession, type OpenRequest } from "../../app/chat/chat-session.ts";
import { CruError } from "../../contract/error.ts";
import type { AnswerInput } from "../../inbox/answer-question.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import type { Io } from "../command.ts";
import { applyDelta, applyEvent } from "./apply-event.ts";
import { newState, type Pending } from "./chat-state.ts";
import { type Line, line, plainText } from "./line.ts";
import { isSlash, runSlash } from "./slash-commands.ts";
import { replayEvents, runTurns } from "./turns.ts";

export type PlainInput = { request: OpenRequest; message: string | undefined; io: Io };

/** Lines are broken by whatever shows them. */
const WIDTH = Number.POSITIVE_INFINITY;
const REPLAYED_LINES = 200;

/** The same conversation for terminals that cannot move the cursor, screen readers and scripts: one line per event, and lines as answers. */
export async function plainChat({ request, message, io }: PlainInput): Promise<number> {
  const now = (): number => performance.now();
  const state = newState(request.verbose);
  let leave: (code: number) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const left = new Promise<number>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const print = (lines: readonly Line[]): void => {
    for (const l of lines) if (plainText(l).trim() !== "") io.out(`${plainText(l).trimEnd()}\n`);
  };
  const listener: ChatListener = {
    opened: ({ id, resumed }) => io.out(`session ${id}${resumed ? " (resumed)" : ""}\n`),
    event: (event) => print(applyEvent(state, event, now(), WIDTH)),
    delta: (spanId, delta) => print(applyDelta(state, spanId, delta, WIDTH)),
    warn: (text) => print([line(`warning: ${inertLine(text)}`)]),
    asking(question, help) {
      state.questions.push({ ...help, question, openedMs: now() });
      print(questionLines({ ...help, question }));
    },
  };
  const chat = await openChatSession(request, listener);
  const turns = runTurns({ chat, state, print, width: () => WIDTH, now, unheard: () => {}, failed: fail });
  const input = createInterface({ input: process.stdin, terminal: false });
  const onSignal = (): void => leave(130);
  let stopped = false;
  const onInterrupt = (): void => {
    if (state.working === undefined || stopped) return leave(130);
    stopped = true;
    turns.interrupt();
  };
  process.on("SIGINT", onInterrupt);
  process.once("SIGTERM", onSignal);
  let ended = false;
  input.on("line", (text) => void heard(text).catch(fail));
  input.once("close", () => {
    ended = true;
    if (state.working === undefined) leave(0);
  });
  const idle = setInterval(() => {
    // Input that has ended can neither answer nor ask: what runs is finished, what waits stays in the inbox.
    if (ended && (state.working === undefined || state.questions.length > 0)) leave(0);
  }, 50);
  try {
    if (io.inIsTerminal) print([line("Crucible, in plain lines: type what you want and Enter; /help shows more, Ctrl-D leaves")]);
    if (chat.metadata() !== undefined) print(replayEvents(chat, state, WIDTH, REPLAYED_LINES));
    if (message !== undefined) turns.say(message);
    else if (chat.unfinished) turns.goOn();
    const code = await left;
    const end = await turns.leave();
    const id = chat.metadata()?.session_id;
    if (id !== undefined) io.out(`session ${id}, go on with: cru chat --resume ${id}\n`);
    return code !== 0 ? code : end?.status === "waiting" ? 4 : 0;
  } finally {
    clearInterval(idle);
    input.close();
    process.stdin.unref?.();
    process.removeListener("SIGINT", onInterrupt);
    process.removeListener("SIGTERM", onSignal);
  }

  async function heard(raw: string): Promise<void> {
    const text = raw.trim();
    const [pending] = state.questions;
    stopped = false;
    if (text === "") return;
    if (isSlash(text)) {
      const result = await runSlash(text, { chat, state, width: WIDTH, plain: true });
      print(result.lines);
      if (result.leave === true) leave(0);
    } else if (pending !== undefined) reply(pending, text, chat);
    else turns.say(text);
  }

  function reply(pending: Pending, text: string, session: ChatSession): void {
    const asked = /^(?:ask|\?)\s+(.+)$/i.exec(text)?.[1];
    if (asked !== undefined && pending.explain !== undefined) {
      void pending.explain(asked).then((answer) => print(inert(answer).split("\n").map((l) => line(`  ${l}`))), fail);
      return;
    }
    const parsed = parseReply(pending, text);
    if (typeof parsed === "string") return print([line(parsed)]);
    try {
      session.answer({ ...parsed, id: pending.question.id, actionHash: pending.question.action_hash });
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      print([line(`✗ ${inertLine(error.message)}`)]);
    }
  }
}

function questionLines({ question, check, explain }: Omit<Pending, "openedMs">): Line[] {
  const words = question.kind === "question" || question.kind === "guidance";
  const confirm = question.reversible ? "" : ` confirm=${inertLine(question.confirm_word ?? "", 60)}`;
  return [
    line(`? ${question.kind} from ${inertLine(question.agent, 60)}: ${inertLine(question.title, 400)}`),
    ...(words ? [] : [line(question.reversible ? "  reversible" : "  cannot be undone")]),
    ...inert(question.body).split("\n").map((l) => line(`  ${l}`)),
    ...question.options.filter(() => words).map((o, i) => line(`  ${i + 1}. ${inertLine(o, 200)}`)),
    line(words ? "  answer in words" : `  answer with: approve${confirm}${question.grant === null ? "" : " [session]"}${check === undefined ? "" : " [name=value ...]"} | deny [reason]${explain === undefined ? "" : " | ask QUESTION"}`),
  ];
}

/** The answer, or what is wrong with it. */
function parseReply({ question, check }: Pending, text: string): Omit<AnswerInput, "id"> | string {
  if (question.kind === "question" || question.kind === "guidance") return { decision: "answer", text };
  const deny = /^(?:deny|no?)\b[:\s]*(.*)$/i.exec(text);
  if (deny !== null) return { decision: "deny", text: deny[1] ?? "" };
  const approve = /^(?:approve|y(?:es)?)\b\s*(.*)$/i.exec(text);
  if (approve === null) return "please answer with approve or deny";
  if (/^session$/i.test(approve[1] ?? "")) return { decision: "approve", scope: "session" };
  const set: Record<string, unknown> = {};
  let confirm: string | undefined;
  for (const [, name = "", quoted, bare] of (approve[1] ?? "").matchAll(/([\w.-]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/g)) {
    const value = quoted ?? bare ?? "";
    if (name === "confirm") confirm = value;
    else set[name] = valueOf(value, (question.action?.input as Record<string, unknown> | undefined)?.[name]);
  }
  const fault = check === undefined ? (Object.keys(set).length > 0 ? "its parameters cannot be changed" : undefined) : check(set);
  return fault === undefined ? { decision: "approve", set, ...(confirm === undefined ? {} : { confirm }) } : `✗ ${inertLine(fault, 200)}`;
}

function valueOf(text: string, before: unknown): unknown {
  if (typeof before === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
