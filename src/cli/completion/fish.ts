import type { Place } from "./places.ts";

export function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options, agents }) => {
    const here = `complete -c cru -n '__cru_at "${path}"'`;
    return [
      ...words.map(({ word, summary }) => `${here} -a ${quoted(word)}${described(summary)}`),
      ...options.map(({ word, summary }) => `${here} -l ${quoted(word.replace(/^--/, ""))}${described(summary)}`),
      ...(agents ? [`${here} -a '(__cru_agents)'`] : []),
    ];
  });
  const paths = places.map((p) => quoted(p.path)).join(" ");
  return `# Completion of cru for fish:  cru completion fish > ~/.config/fish/completions/cru.fish
function __cru_at
    set -l places ${paths}
    set -l at ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- "$next" $places; and set at $next
    end
    test "$at" = "$argv[1]"
end
function __cru_agents
    set -l words (commandline -opc)
    command $words[1] agents list --json 2>/dev/null | string match -ar '"name": ?"[A-Za-z0-9._-]+"' | string replace -r '.*"([^"]+)"$' '$1'
end
complete -c cru -f
${lines.join("\n")}
`;
}

function described(summary: string): string {
  return summary === "" ? "" : ` -d ${quoted(summary)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
