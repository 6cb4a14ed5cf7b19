import type { CommandInput } from "./command.ts";
import { buildProgram } from "./program.ts";

/** The full command line: commander finds the command, its code is loaded, its exit code comes back. */
export async function run(argv: readonly string[], input: Omit<CommandInput, "args" | "options">): Promise<number> {
  let code = 0;
  const program = buildProgram(input.io, async (command, args, options) => {
    code = await (await command.load()).run({ ...input, args, options });
  });
  await program.parseAsync([...argv], { from: "user" });
  return code;
}
