import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Env } from "../config/paths.ts";
import { hostText, parseHostEntry } from "../contract/host-entry.ts";
import type { RunBind } from "../contract/runner.ts";

/** What a set-up needs to install packages from inside a sandbox. */
export type PackageAccess = {
  /** Public registries. */
  hosts: string[];
  /** Where the user's own tools are told to go, which may be a private network. */
  intranet: string[];
  env: Record<string, string>;
  binds: RunBind[];
};

export type PackageAccessInput = { env: Env; home: string; node: string; cacheFolder: string; /** Of the machine's own configuration. */ etc?: string };

const PUBLIC = [
  "registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "index.crates.io", "static.crates.io", "crates.io",
];

/**
 * Registries by the user's own configuration, never the project's: a clone must not choose where its set-up may connect to. Logins stay
 * outside, because the scripts of every package run inside. `cacheFolder` is shared by the worktrees of one project only.
 */
export function packageAccess(input: PackageAccessInput): PackageAccess {
  const npm = npmRegistries(input);
  const python = pythonIndexes(input);
  mkdirSync(input.cacheFolder, { recursive: true, mode: 0o700 });
  return {
    hosts: PUBLIC,
    intranet: [...new Set([...npm.all, ...python.all].flatMap(hostOf))].filter((host) => !PUBLIC.includes(host)),
    env: { ...caches(input.cacheFolder), ...npm.env, ...python.env },
    binds: [{ from: input.cacheFolder, writable: true }],
  };
}

function caches(folder: string): Record<string, string> {
  return {
    npm_config_cache: join(folder, "npm"), npm_config_store_dir: join(folder, "pnpm"), npm_config_prefer_offline: "true", npm_config_update_notifier: "false",
    YARN_CACHE_FOLDER: join(folder, "yarn"), YARN_GLOBAL_FOLDER: join(folder, "yarn"), COREPACK_HOME: join(folder, "corepack"), COREPACK_ENABLE_DOWNLOAD_PROMPT: "0",
    PIP_CACHE_DIR: join(folder, "pip"), PIP_DISABLE_PIP_VERSION_CHECK: "1", UV_CACHE_DIR: join(folder, "uv"), UV_LINK_MODE: "copy", CARGO_HOME: join(folder, "cargo"),
  };
}

type Registries = { /** Every address that is configured. */ all: string[]; env: Record<string, string> };

function npmRegistries({ env, home, node }: PackageAccessInput): Registries {
  const variable = (name: string): string | undefined => env[`npm_config_${name}`] ?? env[`NPM_CONFIG_${name.toUpperCase()}`];
  const files = [variable("globalconfig") ?? join(dirname(dirname(node)), "etc", "npmrc"), variable("userconfig") ?? join(home, ".npmrc")];
  // Later ones win.
  const lines = files.flatMap((file) => settingLines(file, env)).filter(({ key }) => key === "registry" || /^@[^:]+:registry$/.test(key));
  const registry = plainUrl(variable("registry") ?? lines.findLast(({ key }) => key === "registry")?.value);
  const scoped = lines.filter(({ key }) => key.startsWith("@")).flatMap(({ value }) => plainUrl(value) ?? []);
  return { all: [...(registry === undefined ? [] : [registry]), ...scoped], env: registry === undefined ? {} : { npm_config_registry: registry } };
}

const PYTHON_VARIABLES = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX"];

function pythonIndexes({ env, home, etc = "/etc" }: PackageAccessInput): Registries {
  const files = [join(etc, "pip.conf"), join(home, ".pip", "pip.conf"), join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "pip", "pip.conf"), ...(env.PIP_CONFIG_FILE === undefined ? [] : [env.PIP_CONFIG_FILE])];
  const lines = files.flatMap((file) => settingLines(file, {}));
  const told: Record<string, string | undefined> = {
    PIP_INDEX_URL: lines.findLast(({ key }) => key === "index-url")?.value,
    PIP_EXTRA_INDEX_URL: lines.findLast(({ key }) => key === "extra-index-url")?.value,
    ...Object.fromEntries(PYTHON_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  };
  const kept = Object.entries(told).flatMap(([name, value]) => {
    const urls = (value ?? "").split(/\s+/).flatMap((word) => plainUrl(word.replace(/^[\w-]+=(?=https?:)/, "")) ?? []);
    return urls.length === 0 ? [] : [{ name, urls }];
  });
  return { all: kept.flatMap(({ urls }) => urls), env: Object.fromEntries(kept.map(({ name, urls }) => [name, urls.join(" ")])) };
}

/** `key = value` lines, with `${NAME}` replaced as npm does it; a value may go on over indented lines, as in pip's files. */
function settingLines(file: string, env: Env): { key: string; value: string }[] {
  const found: { key: string; value: string }[] = [];
  for (const line of textOf(file).split(/\r?\n/)) {
    const pair = /^\s*([^\s#;=[][^=]*?)\s*=\s*(.*?)\s*$/.exec(line);
    const last = found.at(-1);
    if (/^\s+https?:/.test(line) && last !== undefined) last.value += ` ${line.trim()}`;
    else if (pair?.[1] !== undefined) found.push({ key: pair[1], value: (pair[2] ?? "").replace(/^(["'])(.*)\1$/, "$2").replace(/\$\{([^}]+)\}/g, (_, name: string) => env[name] ?? "") });
  }
  return found;
}

/** Without name and password. */
function plainUrl(text: string | undefined): string | undefined {
  if (text === undefined || !/^https?:/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function hostOf(text: string): string[] {
  const url = new URL(text);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const host = hostText({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  return parseHostEntry(host).ok ? [host] : [];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
