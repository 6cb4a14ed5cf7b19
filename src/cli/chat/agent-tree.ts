import { cost } from "../figures.ts";
import type { AgentRow, ChatState } from "./chat-state.ts";
import { liveChildren } from "./chat-state.ts";
import { type Line, span, spread } from "./line.ts";

/** Who is at work, with time and cost; empty while the primary works alone. */
export function agentTree(state: ChatState, now: number, spinner: string, width: number): Line[] {
  if (liveChildren(state).length === 0) return [];
  const rows = state.agents.filter((a) => a.depth === 0 || a.turn === state.turn);
  const root = rows.find((a) => a.depth === 0);
  if (root === undefined) return [];
  return [row(root, "  ", now, spinner, width), ...children(root, "  ")];

  function children(of: AgentRow, indent: string): Line[] {
    const mine = rows.filter((a) => a.parent === of.span);
    return mine.flatMap((child, i) => {
      const last = i === mine.length - 1;
      return [row(child, `${indent}${last ? "└─ " : "├─ "}`, now, spinner, width), ...children(child, `${indent}${last ? "   " : "│  "}`)];
    });
  }
}

function row(agent: AgentRow, indent: string, now: number, spinner: string, width: number): Line {
  const live = agent.endedMs === undefined;
  const seconds = `${Math.floor(((agent.endedMs ?? now) - agent.startedMs) / 1000)} s`;
  const figures = [span(`  ${seconds.padStart(6)}`, "dim"), span(`  ${cost(agent.costUsd).padStart(8)}`, "dim")];
  const mark = !live ? (agent.status === "failed" ? span("✗ ", "red") : span("✓ ", "green")) : agent.status === "waiting" ? span("? ", "yellow") : span(`${spinner} `, "yellow");
  const doing = live ? (agent.status === "waiting" ? "waits for you" : agent.doing) : agent.status;
  return spread([span(indent, "dim"), mark, span(agent.name, ...(live ? (["bold"] as const) : [])), span(`  ${doing}`, "dim")], figures, width);
}
