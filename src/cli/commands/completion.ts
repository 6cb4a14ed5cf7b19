import { CruError } from "../../contract/error.ts";
import { didYouMean } from "../../lib/nearest.ts";
import type { Run } from "../command.ts";
import { bashScript } from "../completion/bash.ts";
import { fishScript } from "../completion/fish.ts";
import { places } from "../completion/places.ts";
import { zshScript } from "../completion/zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export const run: Run = async ({ args: [shell = ""], io }) => {
  if (!Object.hasOwn(SCRIPTS, shell)) {
    throw new CruError("usage", `no completion for '${shell}'`, { hint: didYouMean(shell, Object.keys(SCRIPTS)) });
  }
  io.out(SCRIPTS[shell as keyof typeof SCRIPTS](places()));
  return 0;
};
