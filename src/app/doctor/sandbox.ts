import { lstatSync, readFileSync } from "node:fs";
import { type Check, finding, plainEnv } from "./check.ts";

/** Starts a real sandbox with the flags that runs use: reading kernel settings alone gives wrong answers. */
export const sandboxCheck: Check = {
  id: "sandbox",
  async look(input, deps) {
    if (process.platform !== "linux") return [finding("sandbox", "warn", "no tested sandbox on this system", "run cru in a container and set `sandbox: external`")];
    const run = await deps.run("bwrap", probeArguments(), { env: plainEnv(input.env), cwd: "/", timeoutMs: 10_000 });
    if (run.code === 0) return [finding("sandbox", "ok", "bubblewrap starts a sandbox")];
    if (run.failure !== null) return [finding("sandbox", "warn", run.notFound ? "bubblewrap is not installed: agent and script steps refuse to run" : run.failure.message, INSTALL)];
    if (run.timedOut) return [finding("sandbox", "warn", "bubblewrap did not start within 10 s", "try `bwrap --unshare-all --ro-bind / / true` by hand")];
    const { why, fix } = remedy(run.stderr);
    return [finding("sandbox", "warn", `bubblewrap cannot start a sandbox: ${why}${kernelSays()}`, fix)];
  },
};

const INSTALL = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap); in a container of your own: `sandbox: external`";
const CONTAINER = "run cru outside the container, start the container with the rights that bubblewrap needs, or set `sandbox: external` when the container itself is the fence";

const REMEDIES: readonly { says: RegExp; why: string; fix: string }[] = [
  {
    says: /No permissions to create new namespace/,
    why: "the kernel or a seccomp filter (Docker) forbids user namespaces",
    fix: `sudo sysctl -w kernel.unprivileged_userns_clone=1; in a container: ${CONTAINER}`,
  },
  {
    says: /max_\*_namespaces exceeded|ENOSPC/,
    why: "no further namespace is allowed (a limit, or a sandbox inside a sandbox)",
    fix: "sudo sysctl -w user.max_user_namespaces=15000; inside another sandbox: set `sandbox: external`",
  },
  {
    says: /setting up uid map: Permission denied|RTM_NEWADDR/,
    why: "AppArmor restricts user namespaces (Ubuntu 24.04 and newer)",
    fix: "give bubblewrap an AppArmor profile with `userns,`, or sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  },
  { says: /setting up uid map: Operation not permitted/, why: "root without its capabilities, as in many containers", fix: CONTAINER },
  { says: /Can't mount proc/, why: "/proc is masked, as in many containers", fix: CONTAINER },
  { says: /Failed to make \/ slave/, why: "mounting is forbidden", fix: CONTAINER },
  { says: /Unknown option|unrecognized/i, why: "this bubblewrap is too old", fix: "install bubblewrap 0.8 or newer" },
];

export function remedy(stderr: string): { why: string; fix: string } {
  const known = REMEDIES.find(({ says }) => says.test(stderr));
  const said = stderr.split("\n").find((line) => line.startsWith("bwrap: "))?.slice(7) ?? (stderr.trim() === "" ? "it said nothing" : stderr.trim().slice(0, 200));
  return known ?? { why: said, fix: "try `bwrap --unshare-all --ro-bind / / true` by hand; without a sandbox: `sandbox: external` in a container, or `sandbox: off` at your own risk" };
}

function probeArguments(): string[] {
  const flags = ["--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"];
  const top = ["bin", "lib", "lib64"].flatMap((name) => topFolder(name));
  return [...flags, "--ro-bind", "/usr", "/usr", ...top, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--", "/bin/true"];
}

/** A link into /usr on most systems, a folder of its own on some. */
function topFolder(name: string): string[] {
  const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ["--symlink", `usr/${name}`, `/${name}`] : ["--ro-bind", `/${name}`, `/${name}`];
}

function kernelSays(): string {
  const names = ["user/max_user_namespaces", "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns"];
  const said = names.flatMap((name) => {
    try {
      return [`${name.replace("/", ".")}=${readFileSync(`/proc/sys/${name}`, "utf8").trim()}`];
    } catch {
      return [];
    }
  });
  return said.length === 0 ? "" : ` (${said.join(", ")})`;
}
