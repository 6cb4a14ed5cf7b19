import { inertLine } from "../../lib/inert.ts";
import { cut, type Line, span } from "./line.ts";

/** The first lines of a chat: where it is, and what can be typed when there is room to say so. */
export function banner(folder: string, width: number): Line[] {
  const where = inertLine(folder);
  const room = width - 12 - where.length;
  return [cut([span("Crucible", "bold"), span(`  ${where}`), span(room < 46 ? "" : "  / for commands, @ for files, /help for keys", "dim")], width), []];
}
