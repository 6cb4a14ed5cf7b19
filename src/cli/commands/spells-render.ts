import { openSpellBook } from "../../app/spell-book.ts";
import { isInline, renderSpell, type SpellBook } from "../../catalog/spells.ts";
import { CruError } from "../../contract/error.ts";
import { inert } from "../../lib/inert.ts";
import { TemplateError } from "../../lib/template/template-error.ts";
import type { CommandInput, Run } from "../command.ts";
import { printJson } from "../print.ts";
import { readVariables } from "../read-variables.ts";

/** Rendering runs nothing, so it needs no trust. */
export const run: Run = async (input) => {
  const { args: [spell = ""], options, io } = input;
  const data = readVariables({ file: textOption(options.varFile), assignments: listOption(options.var) }, input.cwd);
  const text = rendered(spell, data, input);
  if (options.json === true) printJson(io, { spell: isInline(spell) ? null : spell, text });
  else if (io.outIsTerminal) io.out(inert(text.endsWith("\n") ? text : `${text}\n`));
  else io.out(text);
  return 0;
};

function rendered(spell: string, data: Record<string, unknown>, { cwd, env }: CommandInput): string {
  let book: SpellBook | undefined;
  try {
    return renderSpell(spell, data, { book: () => (book ??= openSpellBook({ cwd, env }).book) });
  } catch (error) {
    const nothingGiven = error instanceof TemplateError && error.fault === "template.value" && Object.keys(data).length === 0;
    if (!nothingGiven) throw error;
    throw new CruError("invalid_template", error.message, { hint: "give values with --var name=value (also --var bead.title=…) or --var-file data.json", cause: error });
  }
}

function textOption(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOption(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === "string") : [];
}
