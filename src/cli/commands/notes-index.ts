import { openNotes } from "../../app/notes.ts";
import { openSettings } from "../../app/open-settings.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const { paths, settings } = openSettings({ cwd, env, trust: options.trust === true });
  const kiln = openNotes({ paths, settings, env }, paths.root);
  const started = performance.now();
  const figures = await kiln.refresh({
    onProgress: (done, total) => {
      if (io.errIsTerminal) io.err(`\r\u001b[Kindexing notes: ${done} of ${total}${done === total ? "\r\u001b[K" : ""}`);
    },
  });
  const { notes, added, changed, removed, skipped, embeddingFailure } = figures;
  if (embeddingFailure !== undefined) io.err(`warning: ${embeddingFailure}; notes are found by their words until the next index\n`);
  if (options.json === true) printJson(io, { notes, added, changed, removed, skipped, duration_ms: Math.round(performance.now() - started) });
  else io.out(`${notes} ${notes === 1 ? "note" : "notes"}: ${added} added, ${changed} changed, ${removed} removed${skipped > 0 ? `, ${skipped} not readable` : ""}\n`);
  return 0;
};
