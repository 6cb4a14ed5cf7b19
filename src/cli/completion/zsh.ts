import type { Offer, Place } from "./places.ts";

export function zshScript(places: readonly Place[]): string {
  const steps = places.filter((p) => p.path !== "").map(({ path }) => `      '${path.includes(" ") ? path : ` ${path}`}') at='${path}' ;;`);
  const cases = places.map(({ path, words, options, agents }) => {
    const lines = [`words_=(${words.map(described).join(" ")})`, `options_=(${options.map(described).join(" ")})`, ...(agents ? ["agents=1"] : [])];
    return `    '${path}')\n${lines.map((line) => `      ${line}`).join("\n")} ;;`;
  });
  return `#compdef cru
# Completion of cru for zsh:  cru completion zsh > "\${fpath[1]}/_cru"   or   source <(cru completion zsh)
_cru() {
  local at='' agents='' word
  local -a words_ options_ names_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
${steps.join("\n")}
    esac
  done
  case "$at" in
${cases.join("\n")}
  esac
  if [[ -n $agents ]]; then
    names_=(\${(f)"$("\${words[1]}" agents list --json 2>/dev/null | grep -oE '"name": ?"[A-Za-z0-9._-]+"' | cut -d '"' -f 4)"})
    compadd -a names_
  fi
  (( \${#words_} )) && _describe command words_
  [[ $PREFIX == -* ]] && _describe option options_
  return 0
}
if [[ \${funcstack[1]} == _cru ]]; then _cru "$@"; else compdef _cru cru; fi
`;
}

function described({ word, summary }: Offer): string {
  return `'${`${word}:${summary}`.replaceAll("'", "'\\''")}'`;
}
