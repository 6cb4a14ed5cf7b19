import { readFileSync } from "node:fs";
import { runProgram } from "./subprocess.ts";

/** A process that can be recognised later: the pid alone is recycled, pid and start time are not. */
export type Owner = { pid: number; started: string };

export async function currentOwner(): Promise<Owner> {
  return (await ownerOf(process.pid)) ?? { pid: process.pid, started: "unknown" };
}

/** Undefined when there is no such process any more. */
export async function ownerOf(pid: number): Promise<Owner | undefined> {
  const started = await startOf(pid);
  return started === undefined ? undefined : { pid, started };
}

/** False when that process is gone, is a zombie, or its pid belongs to another process by now. */
export async function isAlive(owner: Owner): Promise<boolean> {
  if (!Number.isSafeInteger(owner.pid) || owner.pid <= 0) return false;
  return (await startOf(owner.pid)) === owner.started;
}

async function startOf(pid: number): Promise<string | undefined> {
  return process.platform === "linux" ? startOnLinux(pid) : startByPs(pid);
}

function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name stands in brackets and may hold spaces and brackets itself.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, ticks] = [fields[0], fields[19]];
    return state === "Z" || state === "X" || ticks === undefined ? undefined : `${bootId()}-${ticks}`;
  } catch {
    return undefined;
  }
}

/** Ticks count from the boot, so a pid and its ticks may come again after the next one. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
  } catch {
    return "boot";
  }
}

async function startByPs(pid: number): Promise<string | undefined> {
  const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
  const { code, stdout } = await runProgram("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { env, timeoutMs: 5000 });
  const [, state = "", started = ""] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? [];
  return code !== 0 || started === "" || state.startsWith("Z") ? undefined : started.replace(/\s+/g, " ");
}
