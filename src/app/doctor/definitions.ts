import { problemText } from "../../contract/problem.ts";
import { openAgentCatalog } from "../agent-catalog.ts";
import { type Check, finding } from "./check.ts";

const MOST_LINES = 3;

export const definitionsCheck: Check = {
  id: "agents",
  async look({ cwd, env }) {
    const { agents } = await openAgentCatalog({ cwd, env });
    const usable = agents.items.filter((entry) => entry.value.enabled);
    const errors = agents.problems.filter((p) => p.severity === "error");
    const own = usable.filter((entry) => entry.source !== "builtin").length;
    const count = `${usable.length} agents, ${own} of them yours or this project's`;
    if (errors.length === 0) {
      const warnings = agents.problems.length;
      return [finding("agents", "ok", count), ...(warnings === 0 ? [] : [finding("agents", "info", `${warnings} ${warnings === 1 ? "smaller problem" : "smaller problems"} in their files`, "cru agents validate")])];
    }
    const shown = errors.slice(0, MOST_LINES).map((problem) => finding("agents", "warn", problemText({ ...problem, hint: "" }), problem.hint === "" ? "cru agents validate" : problem.hint));
    const more = errors.length - shown.length;
    return [finding("agents", "info", count), ...shown, ...(more === 0 ? [] : [finding("agents", "warn", `and ${more} more ${more === 1 ? "problem" : "problems"} in agents' files`, "cru agents validate")])];
  },
};
