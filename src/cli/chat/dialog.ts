import { type AnswerInput, choiceFault } from "../../inbox/answer-question.ts";
import type { Pending } from "./chat-state.ts";
import { createEditor, type Editor } from "./editor.ts";
import type { Key } from "./keys.ts";

/** What stands between a person and a decision: choosing, a reason, a confirmation word, changed parameters, a question back, an answer in words. */
export type DialogMode = "choose" | "deny" | "confirm" | "fields" | "value" | "ask" | "words";

export type Dialog = {
  pending: Pending;
  mode: DialogMode;
  editor: Editor;
  /** First line of the body that is shown. */
  scroll: number;
  /** Of the parameters. */
  field: number;
  set: Record<string, unknown>;
  /** What the changed action would do; undefined while nothing is changed. */
  preview: string | undefined;
  fault: string;
  /** Questions back to the agent and what it said; undefined while it thinks. */
  talk: { question: string; answer: string | undefined }[];
};

export type DialogEffect = { kind: "none" } | { kind: "interrupt" } | { kind: "ask"; text: string } | { kind: "preview" } | { kind: "answer"; answer: Omit<AnswerInput, "id" | "actionHash"> };

const NONE: DialogEffect = { kind: "none" };

export function openDialog(pending: Pending): Dialog {
  const inWords = pending.question.kind === "question" || pending.question.kind === "guidance";
  return { pending, mode: inWords ? "words" : "choose", editor: createEditor(), scroll: 0, field: 0, set: {}, preview: undefined, fault: "", talk: [] };
}

const ARM_MS = 800;

/** Keys that were meant for a message or for the dialog before must not decide anything: it takes this long without a key before one counts. */
export function isArmed(now: number, lastKeys: readonly number[]): boolean {
  return lastKeys.every((at) => now - at > ARM_MS);
}

export function parametersOf(dialog: Dialog): [string, unknown][] {
  const input = dialog.pending.check === undefined ? undefined : dialog.pending.question.action?.input;
  return typeof input === "object" && input !== null && !Array.isArray(input) ? Object.entries({ ...input, ...dialog.set }) : [];
}

export function pressDialog(dialog: Dialog, key: Key): DialogEffect {
  if (dialog.mode === "choose") return choose(dialog, key);
  if (dialog.mode === "fields") return fields(dialog, key);
  if (key.type === "key" && key.name === "escape") return back(dialog);
  const submits = key.type === "key" && key.name === "enter" && !key.alt && !dialog.editor.text().endsWith("\\");
  if (submits) return submit(dialog, dialog.editor.text());
  if (!dialog.editor.press(key) && key.type === "key") scroll(dialog, key.name);
  return NONE;
}

function choose(dialog: Dialog, key: Key): DialogEffect {
  if (key.type === "key") {
    if (key.name === "escape") return { kind: "interrupt" };
    scroll(dialog, key.name);
    return NONE;
  }
  switch (key.text.toLowerCase()) {
    case "a":
    case "y":
      return approve(dialog);
    case "s":
      if (allowsAll(dialog)) return { kind: "answer", answer: { decision: "answer", text: ALLOW_ALL } };
      return dialog.pending.question.grant === null || changed(dialog) ? NONE : { kind: "answer", answer: { decision: "approve", scope: "session" } };
    case "d":
    case "n":
      return enter(dialog, "deny");
    case "e":
      return parametersOf(dialog).length > 0 ? enter(dialog, "fields") : NONE;
    case "?":
    case "m":
      return dialog.pending.explain === undefined ? NONE : enter(dialog, "ask");
    default:
      return NONE;
  }
}

const ALLOW_ALL = "Allow All";

/** A permission that can be given for every such call of this agent, in its own words. */
export function allowsAll({ pending: { question } }: Dialog): boolean {
  return question.kind === "permission" && question.reversible && question.options.includes(ALLOW_ALL);
}

export function changed(dialog: Dialog): boolean {
  return Object.keys(dialog.set).length > 0;
}

function approve(dialog: Dialog): DialogEffect {
  if (!dialog.pending.question.reversible) return enter(dialog, "confirm");
  return { kind: "answer", answer: { decision: "approve", set: dialog.set } };
}

function fields(dialog: Dialog, key: Key): DialogEffect {
  const parameters = parametersOf(dialog);
  if (key.type === "text" && key.text.toLowerCase() === "a") return approve(dialog);
  if (key.type !== "key") return NONE;
  if (key.name === "escape") return enter(dialog, "choose");
  if (key.name === "up") dialog.field = Math.max(0, dialog.field - 1);
  if (key.name === "down" || key.name === "tab") dialog.field = Math.min(parameters.length - 1, dialog.field + 1);
  if (key.name === "enter") {
    const value = parameters[dialog.field]?.[1];
    enter(dialog, "value");
    dialog.editor.set(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  }
  return NONE;
}

function submit(dialog: Dialog, text: string): DialogEffect {
  switch (dialog.mode) {
    case "deny":
      return { kind: "answer", answer: { decision: "deny", text: text.trim() } };
    case "confirm": {
      const word = dialog.pending.question.confirm_word ?? "";
      if (text.trim() === word) return { kind: "answer", answer: { decision: "approve", set: dialog.set, confirm: word } };
      dialog.fault = `type ${word} to approve it, or Esc`;
      return NONE;
    }
    case "value":
      return setValue(dialog, text);
    case "ask":
      if (text.trim() === "") return enter(dialog, "choose");
      dialog.talk.push({ question: text.trim(), answer: undefined });
      enter(dialog, "choose");
      return { kind: "ask", text: text.trim() };
    default:
      dialog.fault = choiceFault(dialog.pending.question, text) ?? "";
      return text.trim() === "" || dialog.fault !== "" ? NONE : { kind: "answer", answer: { decision: "answer", text: text.trim() } };
  }
}

/** A changed parameter is checked with the tool's own schema before it can be approved. */
function setValue(dialog: Dialog, text: string): DialogEffect {
  const [name, before] = parametersOf(dialog)[dialog.field] ?? [];
  if (name === undefined) return NONE;
  const value = typeof before === "string" ? text : fromJson(text);
  const set = { ...dialog.set, [name]: value };
  const original = (dialog.pending.question.action?.input as Record<string, unknown> | undefined)?.[name];
  if (JSON.stringify(value) === JSON.stringify(original)) delete set[name];
  const fault = dialog.pending.check?.(set);
  if (fault !== undefined) {
    dialog.fault = fault;
    return NONE;
  }
  dialog.set = set;
  dialog.preview = undefined;
  enter(dialog, "fields");
  return changed(dialog) ? { kind: "preview" } : NONE;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function back(dialog: Dialog): DialogEffect {
  if (dialog.mode === "words") return { kind: "interrupt" };
  return enter(dialog, dialog.mode === "value" ? "fields" : "choose");
}

function enter(dialog: Dialog, mode: DialogMode): DialogEffect {
  dialog.mode = mode;
  dialog.fault = "";
  dialog.editor.set("");
  return NONE;
}

function scroll(dialog: Dialog, name: string): void {
  const step = { up: -1, down: 1, "page-up": -8, "page-down": 8 }[name] ?? 0;
  dialog.scroll = Math.max(0, dialog.scroll + step);
}
