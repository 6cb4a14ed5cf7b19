import { PROTECTED_NAMES } from "../lib/protected-path.ts";

/**
 * A rough reading of shell text, for questions only: whatever it misses still meets the sandbox, which is not rough.
 * Protected names that a command changes: those that it names itself, and those that its text gives away.
 */
export function protectedByCommand(input: { command: string; writes?: readonly string[] | undefined }): string[] {
  const found = new Set<string>(input.writes ?? []);
  if (callsOf(input.command, "git").some((call) => GIT_WRITES.test(call) && !GIT_READS.test(call))) found.add(".git");
  if (callsOf(input.command, "bd").some((call) => !BD_READS.test(call))) found.add(".beads");
  if (WRITES.test(input.command)) for (const name of PROTECTED_NAMES) if (mentions(input.command, name)) found.add(name);
  return [...found].toSorted();
}

/** What leaves the machine or cannot be taken back, in words for the person who is asked. Undefined when nothing of it is seen. */
export function irreversibleInCommand(command: string): string | undefined {
  const found = IRREVERSIBLE.find(([program, calls]) => callsOf(command, program).some((call) => calls.test(call)));
  if (found !== undefined) return found[2];
  return NETWORK_WRITE.test(command) ? "the command writes to the network" : undefined;
}

const GIT_WRITES =
  /^(?:add|am|bisect|branch|checkout|cherry-pick|clone|commit|commit-tree|config|fetch|gc|init|lfs|maintenance|merge|mv|notes|pack-refs|prune|pull|push|read-tree|rebase|reflog|remote|reset|restore|revert|rm|sparse-checkout|stash|submodule|switch|symbolic-ref|tag|update-index|update-ref|worktree|write-tree|apply .*--(?:index|cached|3way))(?: |$)/;
const GIT_READS =
  /^(?:(?:branch|tag)(?: (?:--show-current|--list|--all|--remotes|--merged|--no-merged|--contains|--format=\S*|-[alrvnq]+))*$|branch --(?:contains|merged|no-merged|list) \S+$|tag (?:-l|--list|--contains)(?: |$)|remote(?: -v| show .*| get-url .*)?$|config (?:--get\S*|--list|-l|get|list)(?: |$)|stash (?:list|show)|worktree list|submodule status|notes (?:list|show)|reflog(?: show.*)?$|lfs (?:ls-files|status))/;
const BD_READS = /^(?:list|show|ready|stats|help|version|dep tree|$)/;
const WRITES = />|\b(?:tee|mv|cp|rm|rmdir|mkdir|touch|ln|chmod|chown|install|rsync|truncate|dd|patch|unzip|tar)\b|\bsed\b[^\n;|&]* -i|\bperl\s+-\S*i/;
const NETWORK_WRITE =
  /\b(?:curl|wget|https?)\b[^\n;|&]*(?:-X\s*(?:POST|PUT|PATCH|DELETE)|--request[= ](?:POST|PUT|PATCH|DELETE)|\s-d\b|--data|--post|\s-F\b|--form|--upload-file|\s-T\b)/i;

const PUBLISHES = "the command publishes a package";
const ON_THE_HOST = "the command changes something on the code host";
const IRREVERSIBLE: readonly (readonly [program: string, calls: RegExp, reason: string])[] = [
  ["git", /^(?:push|send-email)(?: |$)/, "the command pushes to a remote repository"],
  ["gh", /^(?:(?:pr|release|issue|repo|gist|label) (?!view|list|status|diff|checks|checkout|clone|download)|workflow (?:run|enable|disable)|secret|variable|api)/, ON_THE_HOST],
  ["glab", /^(?:(?:mr|release|issue|repo) (?!view|list|diff|checkout|clone)|api)/, ON_THE_HOST],
  ["npm", /^(?:publish|unpublish|deprecate|dist-tag)/, PUBLISHES],
  ["pnpm", /^publish/, PUBLISHES],
  ["yarn", /^(?:npm )?publish/, PUBLISHES],
  ["cargo", /^(?:publish|yank)/, PUBLISHES],
  ["twine", /^upload/, PUBLISHES],
  ["gem", /^push/, PUBLISHES],
  ["docker", /^(?:image )?push/, "the command publishes an image"],
  ["terraform", /^(?:apply|destroy)/, "the command changes infrastructure"],
  ["kubectl", /^(?:apply|delete|create|replace|patch|scale|rollout)/, "the command changes infrastructure"],
];

const OPTIONS_WITH_VALUE = new Set(["-C", "-c", "-R", "--repo", "--git-dir", "--work-tree", "--prefix", "--namespace", "-n", "--context"]);

/** For each call of a program the words after its own options, joined: `commit -m x`. */
function callsOf(command: string, program: string): string[] {
  const simple = command.replaceAll("\\\n", " ").replace(/['"\\]/g, "").split(/[\n;|&()`{}]|\$\(/);
  return simple.flatMap((text) => {
    const words = text.trim().split(/\s+/);
    return words.flatMap((word, at) => (word === program || word.endsWith(`/${program}`) ? [afterOptions(words.slice(at + 1))] : []));
  });
}

function afterOptions(words: readonly string[]): string {
  let at = 0;
  while (words[at]?.startsWith("-") === true) at += OPTIONS_WITH_VALUE.has(words[at] ?? "") ? 2 : 1;
  return words.slice(at).join(" ");
}

function mentions(command: string, name: string): boolean {
  const escaped = name.replaceAll(".", String.raw`\.`);
  return new RegExp(`(?<![A-Za-z0-9_-])${escaped}(?![A-Za-z0-9_.-])`, "i").test(command);
}
