import type { Bind, HostFacts, SandboxSpec } from "./spec.ts";
import { MARKER_PATH } from "./marker.ts";

/** Descriptors that the started bubblewrap gets beside stdin, stdout and stderr. */
export const HANDSHAKE_FD = 3;
export const MARKER_FD = 4;
export const PASSWD_FD = 5;
export const GROUP_FD = 6;

const MEMORY_BYTES = 1 << 30;
/** Certificates without the folders of keys beside them, which root can read. */
const TLS = ["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust/extracted", "crypto-policies/back-ends", "ca-certificates"];
const ETC = ["nsswitch.conf", "hosts", "resolv.conf", ...TLS, "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types"];

/**
 * Says that the sandbox stands, and waits for the word to go: a parent that was killed while it stood up never says it,
 * and nothing runs. `--die-with-parent` alone has a gap there.
 */
const HANDSHAKE = `echo r >&${HANDSHAKE_FD}; read -r _ <&${HANDSHAKE_FD} || exit 125; exec ${HANDSHAKE_FD}<&- ${HANDSHAKE_FD}>&-; exec "$@"`;

/** The whole command line after `bwrap`. Secrets never belong here: it is visible to every user of the machine. */
export function bubblewrapArgs(spec: SandboxSpec, host: HostFacts, command: readonly string[]): string[] {
  return [
    "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session",
    // Without it a command of root would still be root for the files of the machine.
    ...(host.uid === 0 ? ["--uid", String(insideUid(host)), "--gid", String(insideUid(host))] : []),
    ...host.roots.flatMap((root) => ("link" in root ? ["--symlink", root.link, root.path] : ["--ro-bind", root.path, root.path])),
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    "--ro-bind-data", String(PASSWD_FD), "/etc/passwd", "--ro-bind-data", String(GROUP_FD), "/etc/group",
    "--proc", "/proc", "--dev", "/dev",
    // Memory first: what is bound below a folder in memory must come after it.
    ...["/tmp", "/run", insideHome(spec)].flatMap((folder) => ["--size", String(MEMORY_BYTES), "--tmpfs", folder]),
    ...host.toolchain.flatMap((folder) => ["--ro-bind-try", folder, folder]),
    // A device on a file system that allows none: it can be seen, not opened.
    ...host.masked.flatMap((file) => ["--ro-bind", "/dev/null", file]),
    ...(spec.writable ? ["--bind", spec.workspace, spec.workspace] : ["--ro-bind", spec.workspace, spec.workspace]),
    ...protectedBinds(spec, host),
    ...(spec.binds ?? []).flatMap(bindArgs),
    // Its folder is read-only too: otherwise it could be renamed away with what is mounted in it.
    "--ro-bind-data", String(MARKER_FD), MARKER_PATH, "--remount-ro", "/run", "--remount-ro", "/",
    "--chdir", spec.cwd ?? spec.workspace, "--", "/bin/sh", "-c", HANDSHAKE, "sh", ...command,
  ];
}

/** A mount point can be neither written, removed nor replaced from inside. */
function protectedBinds(spec: SandboxSpec, host: HostFacts): string[] {
  if (!spec.writable) return [];
  const allowed = new Set(spec.allowProtected ?? []);
  return host.protected.filter(({ name }) => !allowed.has(name)).flatMap(({ real }) => ["--ro-bind", real, real]);
}

function bindArgs(bind: Bind): string[] {
  const kind = `--${bind.writable === true ? "" : "ro-"}bind${bind.optional === true ? "-try" : ""}`;
  return [kind, bind.from, bind.to ?? bind.from];
}

/** Some containers have no home but the root of the file system. */
export function insideHome(spec: Pick<SandboxSpec, "home">): string {
  return spec.home === "/" || spec.home === "" ? "/home/agent" : spec.home;
}

function insideUid(host: Pick<HostFacts, "uid">): number {
  return host.uid === 0 ? 1000 : host.uid;
}

/** Users of the machine are none of the command's business, but programs look their own name up. */
export function passwdFile(spec: SandboxSpec, host: Pick<HostFacts, "uid">): string {
  return `root:x:0:0:root:/root:/bin/sh\nagent:x:${insideUid(host)}:${insideUid(host)}:agent:${insideHome(spec)}:/bin/sh\n`;
}

export function groupFile(host: Pick<HostFacts, "uid">): string {
  return `root:x:0:\nagent:x:${insideUid(host)}:\n`;
}
