import type { Place } from "./places.ts";

/** Runs in bash 3.2 too (macOS). Nothing that comes from a file is ever expanded by the shell: no `compgen -W`, names of plain characters only. */
export function bashScript(places: readonly Place[]): string {
  const cases = places.map(({ path, words, options, agents }) => {
    const offered = [...words, ...options].map((o) => o.word).join(" ");
    return `    '${path}') words='${offered}'${agents ? "; agents=1" : ""} ;;`;
  });
  return `# Completion of cru for bash:  source <(cru completion bash)
_cru() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path='' words='' agents='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$path $word" in
${descend(places)}
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=()
  if [[ -n $agents && $cur != -* ]]; then
    words="$words $("\${COMP_WORDS[0]}" agents list --json 2>/dev/null | grep -oE '"name": ?"[A-Za-z0-9._-]+"' | cut -d '"' -f 4)"
  fi
  while IFS= read -r word; do
    [[ -n $word && $word == "$cur"* && ($word != -* || $cur == -*) ]] && COMPREPLY+=("$word")
  done <<< "\${words// /$'\\n'}"
}
complete -F _cru cru
`;
}

/** One case per step from a place to the next. */
function descend(places: readonly Place[]): string {
  const paths = places.map((p) => p.path).filter((p) => p !== "");
  return paths.map((path) => `      '${path.includes(" ") ? path : ` ${path}`}') path='${path}' ;;`).join("\n");
}
