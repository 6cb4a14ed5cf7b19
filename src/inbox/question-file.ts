import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { type Answer, answerSchema, type Question, questionSchema, type Wait, waitSchema } from "../contract/question.ts";
import { atomicWrite, syncFolder, writeAll } from "../lib/atomic-write.ts";

const ID = /^[0-9a-f]{8}$/;

export const questionFile = (folder: string, id: string): string => join(folder, `${id}.json`);
export const answerFile = (folder: string, id: string): string => join(folder, `${id}.answer.json`);
export const waitFile = (folder: string, id: string): string => join(folder, `${id}.wait.json`);

/** Sha-256 over exactly what a person is asked about, the order of keys aside. */
export function actionHash(question: Pick<Question, "kind" | "title" | "body" | "options" | "action" | "session_id" | "reversible" | "grant">): string {
  const { kind, title, body, options, action, session_id, reversible, grant } = question;
  const subject = { kind, title, body, options, session_id, reversible, grant: grant ?? undefined, action: action === null ? null : { tool: action.tool, input: action.input } };
  return createHash("sha256").update(canonical(subject)).digest("hex");
}

export function makeInboxFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ignore = join(folder, ".gitignore");
  if (!existsSync(ignore)) atomicWrite(ignore, "*\n");
}

/** Writes a file that did not exist, whole and synced. False when somebody was first: a hard link is made once or not at all. */
export function writeOnce(folder: string, path: string, value: unknown): boolean {
  const temporary = join(folder, `.${randomBytes(8).toString("hex")}.tmp`);
  const file = openSync(temporary, "wx", 0o600);
  try {
    try {
      writeAll(file, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(temporary, path);
    syncFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}

export function readQuestion(folder: string, id: string): Question | undefined {
  return readRecord(questionFile(folder, id), questionSchema);
}

export function readAnswer(folder: string, id: string): Answer | undefined {
  return readRecord(answerFile(folder, id), answerSchema);
}

export function readWait(folder: string, id: string): Wait | undefined {
  return readRecord(waitFile(folder, id), waitSchema);
}

export function writeWait(folder: string, id: string, wait: Omit<Wait, "v">): void {
  atomicWrite(waitFile(folder, id), `${JSON.stringify({ v: 1, ...wait })}\n`, { mode: 0o600, sync: false });
}

/** Every id in the folder, and which of them are closed. */
export function inboxIds(folder: string): { ids: string[]; closed: Set<string> } {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { ids: [], closed: new Set() };
    throw error;
  }
  const idIn = (name: string, ending: string): string => (name.endsWith(ending) ? name.slice(0, -ending.length) : "");
  return {
    ids: names.map((name) => idIn(name, ".json")).filter((id) => ID.test(id)).sort(),
    closed: new Set(names.map((name) => idIn(name, ".answer.json")).filter((id) => ID.test(id))),
  };
}

const LARGEST = 16 * 1024 * 1024;

/** Undefined when the file is not there or is not what it should be. */
export function readRecord<T>(path: string, schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } }): T | undefined {
  let text: string;
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size > LARGEST) return undefined;
      text = readFileSync(file, "utf8");
    } finally {
      closeSync(file);
    }
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
