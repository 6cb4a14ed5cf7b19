import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { runProgram } from "../lib/subprocess.ts";

export type GitIdentity = { name: string; email: string };

export const FALLBACK_IDENTITY: GitIdentity = { name: "Crucible", email: "crucible@localhost" };

/** What we take over from the user's own configuration. Only `git config` reads it, which starts no program; every other call of ours is without it. */
export async function userGit(gitDir: string, env: Record<string, string | undefined>): Promise<{ identity: GitIdentity; excludesFile: string | undefined }> {
  const { PATH, HOME, XDG_CONFIG_HOME } = env;
  const listed = await runProgram("git", ["config", "--includes", "--type=path", "-z", "--get-regexp", "^(user\\.(name|email)|core\\.excludesfile)$"], {
    env: { PATH: PATH ?? process.env.PATH, HOME, XDG_CONFIG_HOME, GIT_DIR: gitDir, LC_ALL: "C.UTF-8" },
    timeoutMs: 30_000,
  });
  const settings = new Map(listed.stdout.split("\0").map((entry) => [entry.slice(0, entry.indexOf("\n")).toLowerCase(), entry.slice(entry.indexOf("\n") + 1)]));
  const name = clean(env.GIT_AUTHOR_NAME ?? settings.get("user.name"));
  const email = clean(env.GIT_AUTHOR_EMAIL ?? env.EMAIL ?? settings.get("user.email"));
  const identity = name === "" || email === "" ? FALLBACK_IDENTITY : { name, email };
  const usual = HOME === undefined ? undefined : join(XDG_CONFIG_HOME?.startsWith("/") === true ? XDG_CONFIG_HOME : join(HOME, ".config"), "git", "ignore");
  const excludes = settings.get("core.excludesfile") ?? usual;
  return { identity, excludesFile: excludes !== undefined && isAbsolute(excludes) && existsSync(excludes) ? excludes : undefined };
}

/** Git itself drops these characters from names. */
function clean(text: string | undefined): string {
  // oxlint-disable-next-line no-control-regex
  return (text ?? "").replace(/[\u0000-\u001f<>]/g, "").trim();
}
