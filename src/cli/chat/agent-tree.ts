import { cost } from "../figures.ts";
import type { AgentRow, ChatState } from "./chat-state.ts";
import { liveChildren } from "./chat-state.ts";
import { type Line, line, span, spread } from "./line.ts";

/** Past this many children the ones that are done are only counted. */
const MOST_CHILDREN = 6;
const NARROW = 60;

/** Who is at work on what, with time and cost; empty while the primary works alone. */
export function agentTree(state: ChatState, now: number, spinner: string, width: number): Line[] {
  if (liveChildren(state).length === 0) return [];
  const root = state.agents.find((a) => a.depth === 0);
  if (root === undefined) return [];
  const all = state.agents.filter((a) => a.depth > 0 && a.turn === state.turn);
  const shown = all.length > MOST_CHILDREN ? all.filter((a) => a.endedMs === undefined) : all;
  const ended = all.length - shown.length;
  const rest = [...(ended === 0 ? [] : [`${ended} came to an end`]), ...(state.inLine.size === 0 ? [] : [`${state.inLine.size} in line`])].join(", ");
  return [
    row(root, "  "),
    ...shown.map((child, i) => row(child, i === shown.length - 1 && rest === "" ? "  └─ " : "  ├─ ")),
    ...(rest === "" ? [] : [line(`  └─ ${rest}`, "dim")]),
  ];

  function row(agent: AgentRow, indent: string): Line {
    const live = agent.endedMs === undefined;
    const seconds = `${Math.floor(((agent.endedMs ?? now) - agent.startedMs) / 1000)} s`;
    const doing = live ? (agent.status === "waiting" ? "waits for you" : agent.depth === 0 && agent.doing === "spawn_agent" ? "waits for them" : agent.doing) : agent.status;
    const figures = [span(`  ${doing}`, ...(live ? [] : (["dim"] as const))), span(`  ${seconds.padStart(5)}`, "dim"), ...(width < NARROW ? [] : [span(`  ${cost(agent.costUsd).padStart(7)}`, "dim")])];
    const mark = !live ? (agent.status === "failed" ? span("✗ ", "red") : span("✓ ", "green")) : agent.status === "waiting" ? span("? ", "yellow") : span(`${spinner} `, "yellow");
    const task = agent.depth === 0 ? [] : [span(`  ${agent.task}`, "dim")];
    return spread([span(indent, "dim"), mark, span(agent.name, ...(live ? (["bold"] as const) : [])), ...task], figures, width);
  }
}
