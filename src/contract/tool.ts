import type { z } from "zod";
import type { Emit } from "./event.ts";
import type { Permission } from "./permission.ts";

/**
 * What the result of a call is to the model and to the record. A failed call is a value, never a throw.
 * `suspended` names the inbox item that must be answered before there is a result; the process may end meanwhile.
 */
export type ToolResult = {
  ok: boolean;
  output: string;
  suspended?: string;
  /** What it changed, as a unified diff, for people; the model is not sent it. */
  diff?: string;
};

/** What a person is shown before a gated call. */
export type Preview = {
  title: string;
  body: string;
  reversible: boolean;
  /** What it would do to the world, in one line. */
  impact?: string;
};

export type ToolContext = {
  /** Folder that the agent may work in; already a real path. */
  workspace: string;
  callId: string;
  signal: AbortSignal;
  emit: Emit;
};

/** `I` is the parsed input; a call whose input does not parse never reaches `run`. */
export type Tool<I = never> = {
  name: string;
  description: string;
  input: z.ZodType<I>;
  /** What the model is shown of the input, when it is not simply `input` as JSON Schema. */
  inputJson?: Readonly<Record<string, unknown>>;
  /** Rights that the caller must hold; empty for planning and talking. */
  needs: readonly Permission[];
  /** True when a call may change something, so that the loop asks for one reflection before it ends. */
  changes: boolean;
  /** For tools that are not ours: why a person is asked before each call, even when no definition says so. */
  asks?: { reason: string; reversible: boolean };
  /** True when a call that was cut off may be entered again, because it goes on where it stopped. Others are given back as interrupted. */
  reentrant?: boolean;
  /** Must not throw for anything that the model or the world can cause. */
  run(input: I, context: ToolContext): Promise<ToolResult>;
  preview?(input: I, context: ToolContext): Promise<Preview>;
};

// A list of tools has mixed inputs; the loop parses each call with the tool's own schema before it runs it.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTool = Tool<any>;
