import type { LoopMemory } from "./memory.ts";
import { planText } from "./plan.ts";

/** What a person reads when the loop stops before it is done: where it stands, without the raw outputs. `waitsFor`: it goes on after an answer. */
export function progressReport(memory: LoopMemory, iterations: number, waitsFor?: string): string {
  const failed = memory.observations.filter((o) => !o.ok);
  const last = failed.at(-1);
  return [
    waitsFor === undefined ? `Stopped after ${iterations} ${iterations === 1 ? "iteration" : "iterations"}; the goal is not reached yet.` : `Waits for an answer${waitsFor === "" ? "" : `: ${waitsFor}`}`,
    memory.lastText === "" ? "" : `Last word of the agent: ${memory.lastText}`,
    memory.plan.length === 0 ? "" : `Plan:\n${planText(memory.plan)}`,
    memory.observations.length === 0 ? "" : `Done: ${countCalls(memory)}`,
    last === undefined ? "" : `Last failure: ${last.tool}: ${last.output.slice(0, 300)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The steps one by one, for those who ask for them. */
export function detailedSteps(memory: LoopMemory): string {
  return memory.observations
    .map((o, i) => `${i + 1}. ${o.tool} ${JSON.stringify(o.input) ?? ""} (${o.durationMs} ms) ${o.ok ? "✓" : "✗"}\n${indent(o.output)}`)
    .join("\n");
}

function countCalls(memory: LoopMemory): string {
  const counts = new Map<string, number>();
  for (const o of memory.observations) counts.set(o.tool, (counts.get(o.tool) ?? 0) + 1);
  return [...counts].map(([tool, n]) => `${tool} ×${n}`).join(", ");
}

function indent(text: string): string {
  return text.split("\n").map((line) => `   ${line}`).join("\n");
}
