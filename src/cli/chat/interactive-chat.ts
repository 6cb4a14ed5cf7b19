import type { ChatListener, ChatSession, OpenRequest } from "../../app/chat/chat-session.ts";
import { CruError } from "../../contract/error.ts";
import { inertLine } from "../../lib/inert.ts";
import { shownPath } from "../../lib/shown-path.ts";
import { applyDelta, applyEvent } from "./apply-event.ts";
import { banner } from "./banner.ts";
import { type ChatState, newState } from "./chat-state.ts";
import { type DialogEffect, isArmed, openDialog, pressDialog } from "./dialog.ts";
import { createEditor } from "./editor.ts";
import { isTyped, type Menu, menuFor } from "./completion.ts";
import { createHistory } from "./history.ts";
import type { Key } from "./keys.ts";
import { fitted, type Line, line, lineWidth, span } from "./line.ts";
import { type ProjectFiles, projectFiles } from "./project-files.ts";
import { createScreen } from "./screen.ts";
import { isSlash, runSlash } from "./slash-commands.ts";
import { openTerminal } from "./terminal.ts";
import { replayEvents, runTurns, type Turns } from "./turns.ts";
import { type Focus, view } from "./view.ts";

export type InteractiveInput = { request: OpenRequest; message: string | undefined; colour: boolean };

const FRAME_MS = 16;
const TICK_MS = 120;
const REPLAYED_LINES = 200;

/** `cru chat` on a terminal. The prompt stands before anything else is loaded. */
export async function interactiveChat({ request, message, colour }: InteractiveInput): Promise<number> {
  const now = (): number => performance.now();
  const state: ChatState = newState(request.verbose);
  const focus: Focus = { dialog: undefined, calls: undefined, menu: undefined, editor: createEditor(), hint: "", armed: true };
  const history = createHistory();
  const pending: Line[] = [];
  let gap = false;
  let chat: ChatSession | undefined;
  let turns: Turns | undefined;
  let files: ProjectFiles | undefined;
  let frameTimer: NodeJS.Timeout | undefined;
  let lastKeyMs = Number.NEGATIVE_INFINITY;
  let decidedMs = Number.NEGATIVE_INFINITY;
  let stopPressed = false;
  let leave: (why: "left" | "signal") => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const left = new Promise<"left" | "signal">((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const said: string[] = message === undefined ? [] : [message];

  const terminal = openTerminal({ key: (key) => guard(() => press(key)), resize: () => guard(() => screen.resized(frame())), hangUp: () => leave("signal") });
  const screen = createScreen({ write: terminal.write, columns: terminal.columns, colour });
  const width = (): number => Math.max(20, terminal.columns() - 1);
  const frame = () => view({ gap, state, focus, model: chat?.primary().model ?? "", now: now(), columns: terminal.columns(), rows: terminal.rows() });
  const tick = setInterval(() => guard(onTick), TICK_MS);
  const onSignal = (): void => leave("signal");
  for (const signal of SIGNALS) process.once(signal, onSignal);

  let status = "";
  try {
    screen.print(banner(shownPath(request.cwd, { root: request.cwd, home: request.env.HOME ?? "" }), width()), frame());
    const { openChatSession } = await import("../../app/chat/chat-session.ts");
    chat = await openChatSession(request, listener());
    turns = runTurns({ chat, state, print, width, now, unheard: (words) => focus.editor.isEmpty() && focus.editor.set(words), failed: fail });
    files = projectFiles(chat.project.paths.root, { now, loaded: () => guard(openMenu) });
    void chat.said().then((earlier) => history.seed(earlier), fail);
    if (chat.metadata() !== undefined) print(replayEvents(chat, state, width(), REPLAYED_LINES));
    if (chat.unfinished && message === undefined) turns.goOn();
    for (const words of said) turns.say(words);
    changed();
    const why = await left;
    await turns.leave();
    const id = chat.metadata()?.session_id;
    status = id === undefined ? "" : `session ${id}\n→ go on with \`cru chat --resume ${id}\`\n`;
    return why === "signal" ? 130 : 0;
  } finally {
    clearInterval(tick);
    clearTimeout(frameTimer);
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    flushPending();
    screen.clear();
    terminal.close();
    process.stdout.write(status);
  }

  function listener(): ChatListener {
    return {
      opened: () => changed(),
      event: (event) => print(applyEvent(state, event, now(), width())),
      delta: (spanId, delta) => print(applyDelta(state, spanId, delta, width())),
      warn: (text) => print([line(`warning: ${inertLine(text)}`, "yellow")]),
      asking(question, help) {
        state.questions.push({ ...help, question, openedMs: now() });
        changed();
      },
      bell: () => terminal.write("\u0007"),
    };
  }

  function print(lines: readonly Line[]): void {
    pending.push(...lines);
    changed();
  }

  /** Changes of one moment are one frame. */
  function changed(): void {
    frameTimer ??= setTimeout(() => guard(draw), FRAME_MS);
  }

  function draw(): void {
    frameTimer = undefined;
    showQuestion();
    flushPending();
    screen.draw(frame());
  }

  function flushPending(): void {
    const lines = pending.splice(0).flatMap((l) => fitted(l, width())).filter((l) => {
      // Never two empty lines in a row.
      const empty = lineWidth(l) === 0;
      const shown = gap || !empty;
      gap = !empty;
      return shown;
    });
    if (lines.length > 0) screen.print(lines, frame());
  }

  function showQuestion(): void {
    const [first] = state.questions;
    if (focus.dialog !== undefined && focus.dialog.pending !== first) focus.dialog = undefined;
    if (first !== undefined && focus.dialog === undefined) {
      focus.menu = undefined;
      focus.dialog = openDialog(first);
      focus.calls = undefined;
      focus.armed = false;
    }
    // Once it counts keys it goes on to.
    focus.armed = first === undefined || focus.armed || isArmed(now(), [lastKeyMs, decidedMs]);
  }

  function onTick(): void {
    if (state.working !== undefined || focus.dialog !== undefined) changed();
  }

  function press(key: Key): void {
    changed();
    if (key.type === "key" && key.name === "ctrl-c") return stopKey();
    stopPressed = false;
    focus.hint = "";
    if (key.type === "key" && key.name === "ctrl-z") {
      screen.clear();
      return terminal.suspend(() => screen.resized(frame()));
    }
    if (key.type === "key" && key.name === "ctrl-l") {
      terminal.write("\u001b[2J\u001b[H");
      return screen.print([], frame());
    }
    if (focus.calls !== undefined) return pressCalls(key, focus.calls);
    if (focus.dialog !== undefined) return pressInDialog(key);
    lastKeyMs = now();
    if (key.type === "key" && focus.menu !== undefined && pressMenu(key, focus.menu)) return;
    focus.menu = undefined;
    if (key.type === "key" && pressNamed(key.name, key.alt)) return;
    focus.editor.press(key);
    openMenu();
  }

  function openMenu(): void {
    focus.menu = focus.dialog === undefined ? menuFor(focus.editor.before(), (part) => files?.like(part) ?? []) : undefined;
    changed();
  }

  /** False: the key is not the menu's. */
  function pressMenu(key: Extract<Key, { type: "key" }>, menu: Menu): boolean {
    const { editor } = focus;
    const typed = isTyped(menu, editor.before());
    if (key.name === "up" || key.name === "down") focus.menu = { ...menu, chosen: (menu.chosen + (key.name === "down" ? 1 : -1) + menu.items.length) % menu.items.length };
    else if (key.name === "escape") focus.menu = undefined;
    else if (key.name === "tab" || (key.name === "enter" && !key.alt && !typed)) {
      const text = menu.items[menu.chosen]?.text ?? "";
      const isCommand = text.startsWith("/");
      editor.replace(menu.replaces, isCommand && text !== "/model" ? text : `${text} `);
      focus.menu = undefined;
      if (isCommand && key.name === "enter") submit(editor.text());
      else if (text === "/model") openMenu();
    } else return false;
    return true;
  }

  function pressInDialog(key: Key): void {
    const dialog = focus.dialog;
    if (dialog === undefined) return;
    if (!focus.armed) {
      if (decidedMs > lastKeyMs) return void (decidedMs = now());
      // Still the message that was being written: it goes on there, and Enter waits.
      lastKeyMs = now();
      if (key.type !== "key") focus.editor.press(key);
      return;
    }
    if (key.type === "key" && key.name === "ctrl-d" && dialog.editor.isEmpty()) return leave("left");
    if (key.type === "key" && key.name === "ctrl-o") focus.calls = { back: 0, scroll: 0 };
    apply(pressDialog(dialog, key));
  }

  function apply(effect: DialogEffect): void {
    const dialog = focus.dialog;
    if (dialog === undefined || effect.kind === "none") return;
    if (effect.kind === "interrupt") return turns?.interrupt();
    const { question } = dialog.pending;
    if (effect.kind === "preview") {
      const { set } = dialog;
      void dialog.pending.preview?.(set).then((text) => {
        if (dialog.set === set) dialog.preview = text;
        changed();
      }, fail);
      return;
    }
    if (effect.kind === "ask") {
      const talk = dialog.talk.at(-1);
      void dialog.pending.explain?.(effect.text).then((answer) => {
        if (talk !== undefined) talk.answer = answer;
        changed();
      }, fail);
      return;
    }
    try {
      decidedMs = now();
      chat?.answer({ ...effect.answer, id: question.id, actionHash: question.action_hash });
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      dialog.fault = error.message;
    }
  }

  /** Keys with a meaning of their own; everything else is typed. */
  function pressNamed(name: string, alt: boolean): boolean {
    const { editor } = focus;
    if (name === "enter" && !alt && !editor.text().endsWith("\\")) submit(editor.text());
    else if (name === "escape") turns?.interrupt();
    else if (name === "ctrl-d" && editor.isEmpty()) leave("left");
    else if (name === "ctrl-o") focus.calls = { back: 0, scroll: 0 };
    else if (name === "up" && editor.isEmpty() && state.queued.length > 0) editor.set(state.queued.pop() ?? "");
    else if ((name === "up" || name === "down") && !editor.press({ type: "key", name, alt: false })) {
      const words = name === "up" ? history.back(editor.text()) : history.forward();
      if (words !== undefined) editor.set(words);
    } else return name === "up" || name === "down";
    return true;
  }

  function submit(text: string): void {
    if (text.trim() === "") return;
    focus.editor.set("");
    history.add(text);
    if (!isSlash(text)) {
      if (turns === undefined) said.push(text);
      else turns.say(text);
    } else if (chat !== undefined) {
      print([[span(`› ${text.trim()}`, "dim")]]);
      void runSlash(text, { chat, state, width: width() }).then((result) => {
        print([...result.lines, []]);
        if (result.leave === true) leave("left");
      }, fail);
    }
  }

  function stopKey(): void {
    if (stopPressed) return leave("signal");
    stopPressed = true;
    focus.hint = "Ctrl-C again leaves";
    if (state.working !== undefined) turns?.interrupt();
    else focus.editor.set("");
  }

  function pressCalls(key: Key, panel: { back: number; scroll: number }): void {
    if (key.type !== "key") return void (key.type === "text" && key.text === "q" && (focus.calls = undefined));
    const most = Math.max(0, state.calls.length - 1);
    if (key.name === "escape" || key.name === "ctrl-o") focus.calls = undefined;
    else if (key.name === "left") Object.assign(panel, { back: Math.min(most, panel.back + 1), scroll: 0 });
    else if (key.name === "right") Object.assign(panel, { back: Math.max(0, panel.back - 1), scroll: 0 });
    else panel.scroll = Math.max(0, panel.scroll + ({ up: -1, down: 1, "page-up": -10, "page-down": 10 }[key.name as string] ?? 0));
  }

  /** A bug in here must end the chat with its stack, not be lost in a timer. */
  function guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      fail(error);
    }
  }
}

const SIGNALS = ["SIGTERM", "SIGHUP"] as const;
