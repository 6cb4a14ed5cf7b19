import { readdirSync, readFileSync } from "node:fs";

/** Without a pid namespace a command can leave its group; the variable that it inherited still gives its children away. */
export const RUN_VARIABLE = "CRUCIBLE_RUN";

/** Kills every process whose environment carries the tag; true when one was found. Linux only. */
export function reap(tag: string): boolean {
  const wanted = `${RUN_VARIABLE}=${tag}`;
  let found = false;
  for (const pid of processes()) {
    if (pid === process.pid || !environOf(pid).includes(wanted)) continue;
    found = true;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone meanwhile.
    }
  }
  return found;
}

function processes(): number[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return [];
  }
}

function environOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return [];
  }
}
