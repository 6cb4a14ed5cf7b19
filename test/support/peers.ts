import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { CruError } from "../../src/contract/error.ts";
import { acquireLock, type Lock } from "../../src/lib/lock.ts";
import { repository } from "./cru.ts";

const manifest = join(repository, "test", "peers", "package.json");
const cache = join(homedir(), ".cache", "crucible-test-peers");

/** The native program of a platform package: npm's own wrapper needs an install script that npm may refuse to run. */
const PLATFORM = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
const CLAUDE = join("node_modules", PLATFORM, "claude");
const ADAPTER = join("node_modules", "@agentclientprotocol", "claude-agent-acp", "dist", "index.js");

export type Peer = { ok: true; path: string } | { ok: false; reason: string };

/** The real Claude Code CLI, installed on first use: once, even when several test processes start together, and whole or not at all. A changed manifest is another folder. */
export async function claudePeer(): Promise<Peer> {
  const folder = join(cache, createHash("sha256").update(readFileSync(manifest)).digest("hex").slice(0, 16));
  const program = join(folder, CLAUDE);
  if (existsSync(program)) return { ok: true, path: program };
  mkdirSync(cache, { recursive: true });
  const lock = await waitForLock(`${folder}.lock`);
  try {
    if (!existsSync(program)) await install(folder);
  } catch (error) {
    return { ok: false, reason: `npm could not install it: ${(error as Error).message.split("\n").slice(0, 3).join(" ")}` };
  } finally {
    lock.release();
  }
  return existsSync(program) ? { ok: true, path: program } : { ok: false, reason: `there is no build of it for ${process.platform} ${process.arch}` };
}

async function waitForLock(path: string): Promise<Lock> {
  for (;;) {
    try {
      return await acquireLock(path, "the installation of test peers");
    } catch (error) {
      if (!(error instanceof CruError) || error.code !== "locked") throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Without optional packages, because the adapter's library would bring a second CLI of its own; the one that is pinned is added by name. */
async function install(folder: string): Promise<void> {
  const fresh = `${folder}.${randomBytes(6).toString("hex")}`;
  mkdirSync(fresh);
  const npm = (...args: string[]) => promisify(execFile)("npm", ["install", "--omit=optional", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...args], { cwd: fresh, timeout: 600_000 });
  try {
    copyFileSync(manifest, join(fresh, "package.json"));
    const { dependencies } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies: Record<string, string> };
    await npm();
    await npm("--no-save", `${PLATFORM}@${dependencies["@anthropic-ai/claude-code"]}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

const claude = await claudePeer();
if (!claude.ok && process.env.CI === "true") throw new Error(`CI=true, but the real Claude Code CLI is not there: ${claude.reason}`);

/** Path of the real CLI; only inside `describeClaude`. */
export const claudePath = claude.ok ? claude.path : "";
/** Path of the ACP adapter that drives the same CLI; only inside `describeClaude`. */
export const adapterPath = claude.ok ? join(claude.path.slice(0, -CLAUDE.length), ADAPTER) : "";

/** `describe` for what drives the real CLI: skipped with the reason where it cannot be had; with CI=true the file fails. */
export const describeClaude = (title: string, body: () => void): void => {
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback
  describe.skipIf(!claude.ok)(claude.ok ? title : `${title} (skipped: ${claude.reason})`, body);
};
