import { stopFamiliar } from "../../app/task/familiars.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const { beadId, status, session } = await stopFamiliar(args[0] ?? "", { cwd, env, trust: options.trust === true }, (message) => io.err(`warning: ${inertLine(message)}\n`));
  if (options.json === true) printJson(io, { bead_id: beadId, status, session_id: session.id });
  else io.out(`${beadId} is stopped; what it did is kept. Go on with: cru task --resume ${session.id}\n`);
  return 0;
};
