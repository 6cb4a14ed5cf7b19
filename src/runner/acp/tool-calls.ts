import { isAbsolute, resolve } from "node:path";
import { type Message, record, records, text } from "../message.ts";

/** What is known of one tool call; its parts come in pieces. */
export type ToolCall = {
  id: string;
  /** What the agent calls the tool, where it says so. */
  name: string;
  kind: string;
  title: string;
  input: Message;
  /** Files that the call says it is about. */
  paths: string[];
  at: number;
};

export function newCall(id: string): ToolCall {
  return { id, name: "", kind: "other", title: "", input: {}, paths: [], at: performance.now() };
}

/** Adds what a `tool_call`, a `tool_call_update` or a permission request says. */
export function learn(call: ToolCall, said: Message): void {
  const meta = record(record(said._meta).claudeCode);
  call.name = text(said.name) || text(meta.toolName) || call.name;
  call.kind = text(said.kind) || call.kind;
  call.title = text(said.title) || call.title;
  const input = record(said.rawInput);
  if (Object.keys(input).length > 0) call.input = input;
  const named = [...records(said.locations), ...records(said.content).filter((part) => part.type === "diff")].map((part) => text(part.path)).filter((path) => path !== "");
  if (named.length > 0) call.paths = [...new Set([...call.paths, ...named])];
}

/** How it is called in events and questions. */
export function labelOf(call: ToolCall): string {
  return call.name || call.kind;
}

/** Every file that the call names anywhere, as an absolute path. */
export function pathsOf(call: ToolCall, workspace: string): string[] {
  const { file_path, filePath, notebook_path, path } = call.input;
  const named = [file_path, filePath, notebook_path, path].filter((value): value is string => typeof value === "string" && value !== "");
  return [...new Set([...call.paths, ...named])].map((file) => (isAbsolute(file) ? resolve(file) : resolve(workspace, file)));
}

/** What a finished call gave, in words. */
export function outputOf(said: Message): string {
  const words = records(said.content).map((part) => {
    if (part.type === "diff") return `[diff of ${text(part.path)}]`;
    return part.type === "content" && record(part.content).type === "text" ? text(record(part.content).text) : `[${text(part.type)}]`;
  });
  if (words.length > 0 && records(said.content).some((part) => part.type === "content")) return words.join("\n");
  if (typeof said.rawOutput === "string") return said.rawOutput;
  if (said.rawOutput !== undefined && said.rawOutput !== null) return JSON.stringify(said.rawOutput);
  return words.join("\n");
}
