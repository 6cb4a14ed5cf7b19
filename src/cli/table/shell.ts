import type { Command } from "../command.ts";

export const SHELL: readonly Command[] = [
  {
    name: "completion",
    summary: "print the completion script of a shell",
    args: [{ name: "SHELL", summary: "bash, zsh or fish", values: ["bash", "zsh", "fish"] }],
    examples: [
      "source <(cru completion bash)                                # now; put it into ~/.bashrc to keep it",
      'cru completion zsh > "${fpath[1]}/_cru"                       # then start a new shell',
      "cru completion fish > ~/.config/fish/completions/cru.fish",
    ],
    load: () => import("../commands/completion.ts"),
  },
];
