import { accessSync, constants, readFileSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { CruError } from "../contract/error.ts";
import { runProgram } from "../lib/subprocess.ts";

export type SandboxState = { ok: true; program: string; version: string } | SandboxFault;
export type SandboxFault = { ok: false; code: SandboxFaultCode; reason: string; remedy: string; details: string[] };
export type SandboxFaultCode = "no_linux" | "not_installed" | "userns_blocked" | "userns_limit" | "no_capability" | "mount_denied" | "proc_masked" | "apparmor" | "unknown";

/** Runs the real thing with the real flags; settings of the kernel alone prove nothing. */
export async function probeSandbox(deps: { path: string | undefined; platform?: NodeJS.Platform }): Promise<SandboxState> {
  if ((deps.platform ?? process.platform) !== "linux") return { ...FAULTS.no_linux, ok: false, code: "no_linux", details: [] };
  const program = findBubblewrap(deps.path);
  if (program === undefined) return { ...FAULTS.not_installed, ok: false, code: "not_installed", details: [] };
  const run = await runProgram(program, PROBE, { env: {}, timeoutMs: 10_000 });
  if (run.code !== 0) return sandboxFault(run.stderr);
  const version = await runProgram(program, ["--version"], { env: {}, timeoutMs: 10_000 });
  return { ok: true, program, version: version.stdout.trim().replace(/^bubblewrap /, "") };
}

/** The system's own folders first: a PATH may hold folders that a project fills. */
export function findBubblewrap(path: string | undefined, workspace?: string): string | undefined {
  const folders = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin", ...(path ?? "").split(":")];
  const candidates = folders.filter((f) => isAbsolute(f) && (workspace === undefined || !`${f}${sep}`.startsWith(workspace + sep)));
  return candidates.map((folder) => join(folder, "bwrap")).find(isExecutable);
}

/** What bubblewrap said when it could not set the sandbox up, as reason and remedy. */
export function sandboxFault(stderr: string): SandboxFault {
  const code = (Object.keys(SAID) as (keyof typeof SAID)[]).find((key) => SAID[key].test(stderr)) ?? "unknown";
  const said = stderr.split("\n").filter((line) => line.startsWith("bwrap: ")).slice(0, 3);
  return { ...FAULTS[code], ok: false, code, details: [...said, ...kernelSettings()] };
}

export function sandboxMissing(fault: SandboxFault): CruError {
  return new CruError("sandbox_missing", `there is no sandbox: ${fault.reason}`, { hint: `${fault.remedy}; or accept commands without one: sandbox: off` });
}

const PROBE = [
  "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--proc", "/proc",
  "--dev", "/dev", "--tmpfs", "/tmp", "--", "/bin/sh", "-c", "exit 0",
];

const SAID: Record<Exclude<SandboxFaultCode, "no_linux" | "not_installed" | "unknown">, RegExp> = {
  userns_blocked: /No permissions to create (?:a )?new namespace/i,
  userns_limit: /max_\*_namespaces exceeded|ENOSPC/i,
  apparmor: /setting up uid map: Permission denied|Failed RTM_NEWADDR/i,
  no_capability: /setting up uid map: Operation not permitted/i,
  mount_denied: /Failed to make \/ slave/i,
  proc_masked: /Can't mount proc/i,
};

const FAULTS: Record<SandboxFaultCode, { reason: string; remedy: string }> = {
  no_linux: { reason: "bubblewrap exists on Linux only", remedy: "run cru in a container or a virtual machine and set sandbox: external" },
  not_installed: {
    reason: "bubblewrap (bwrap) is not installed",
    remedy: "install it: apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap or apk add bubblewrap",
  },
  userns_blocked: {
    reason: "the kernel or the container forbids user namespaces",
    remedy: "set the sysctl kernel.unprivileged_userns_clone=1; in Docker start with --security-opt seccomp=unconfined, or set sandbox: external when the container is the sandbox",
  },
  userns_limit: { reason: "no further user namespace is allowed", remedy: "raise the sysctl user.max_user_namespaces; inside another sandbox set sandbox: external" },
  no_capability: { reason: "root in this container lacks the capability to map users", remedy: "run as a normal user, or set sandbox: external when the container is the sandbox" },
  mount_denied: { reason: "mounting is forbidden here", remedy: "in Docker start with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or set sandbox: external" },
  proc_masked: { reason: "/proc is masked, as in most containers", remedy: "in Docker start with --security-opt systempaths=unconfined, or set sandbox: external when the container is the sandbox" },
  apparmor: {
    reason: "AppArmor restricts user namespaces (Ubuntu 24.04 and newer)",
    remedy: "add an AppArmor profile with 'userns,' for bwrap, or set the sysctl kernel.apparmor_restrict_unprivileged_userns=0",
  },
  unknown: { reason: "bubblewrap could not set it up", remedy: "run cru doctor for what it said" },
};

function kernelSettings(): string[] {
  return ["user/max_user_namespaces", "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns"].flatMap((name) => {
    try {
      return [`${name.replace("/", ".")} = ${readFileSync(`/proc/sys/${name}`, "utf8").trim()}`];
    } catch {
      return [];
    }
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
