import { listFamiliars } from "../../app/task/familiars.ts";
import { findPaths } from "../../config/paths.ts";
import type { Run } from "../command.ts";
import { cost } from "../figures.ts";
import { printJson, tableLines } from "../print.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const all = await listFamiliars(findPaths(cwd, env));
  const shown = options.all === true ? all : all.filter(({ status }) => status === "working" || status === "waiting");
  if (options.json === true) {
    printJson(io, {
      familiars: shown.map(({ beadId, status, session: { id, metadata } }) => ({
        bead_id: beadId, status, session_id: id, agent: metadata.primary.agent, runner: metadata.runner ?? null, pid: metadata.owner?.pid ?? null, started_at: metadata.started_at,
        title: metadata.request, tokens: metadata.tokens, cost_usd: metadata.cost_usd, branch: metadata.task?.branch ?? null,
      })),
    });
    return 0;
  }
  if (shown.length === 0) io.err(`Nobody is at work.${all.length > 0 ? " `--all` shows who has been." : " `cru task` starts somebody."}\n`);
  else {
    const rows = shown.map(({ beadId, status, session: { metadata } }) => [beadId, status, metadata.runner ?? "", cost(metadata.cost_usd), metadata.started_at.slice(0, 16).replace("T", " "), metadata.request]);
    io.out(`${tableLines(["BEAD", "STATUS", "RUNNER", "COST", "STARTED (UTC)", "TITLE"], rows, io.columns).join("\n")}\n`);
  }
  return 0;
};
