import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { CruError } from "../contract/error.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { isAlive, type Owner, ownerOf } from "../lib/owner.ts";
import { type Program, startProgram } from "../lib/subprocess.ts";
import { bubblewrapArgs, groupFile, insideHome, passwdFile } from "./bubblewrap.ts";
import { hostFacts, insidePath } from "./host-facts.ts";
import { markerText, MARKER_VARIABLE } from "./marker.ts";
import { openNetwork } from "./open-network.ts";
import { findBubblewrap, probeSandbox, type SandboxFault, sandboxFault, sandboxMissing } from "./probe.ts";
import { reap, RUN_VARIABLE } from "./reap.ts";
import { withRelays } from "./relay.ts";
import type { SandboxSpec } from "./spec.ts";

export type StartSandboxedOptions = {
  mode: Settings["sandbox"]["mode"];
  stdin: "pipe" | "ignore";
  /** Beside PATH, HOME, LANG and TMPDIR. Nothing of this process's own environment goes in. */
  env?: Record<string, string>;
};

export type SandboxedProgram = {
  program: Program;
  sandboxed: boolean;
  /** Whether the command was really begun; false until then, and for ever when the sandbox could not be set up. */
  isReady(): boolean;
  /** The polite first signal, for `Program.stop`. */
  softStop: (() => void) | undefined;
  /** After `program.ended`: nothing of it is left when this returns. */
  sweep(): Promise<void>;
};

/**
 * Starts a command with what the spec shows it. With mode `required` and no working sandbox it starts nothing and throws
 * `sandbox_missing`; `off` and `external` start it plainly, because the user said so.
 */
export async function startSandboxed(spec: SandboxSpec, command: readonly string[], options: StartSandboxedOptions): Promise<SandboxedProgram> {
  if (options.mode !== "required") return startPlain(spec, command, options);
  const bubblewrap = findBubblewrap(process.env.PATH, spec.workspace);
  if (bubblewrap === undefined) throw sandboxMissing(await missing());
  refuseHome(spec);
  const facts = hostFacts(spec, { path: process.env.PATH, node: process.execPath, uid: process.getuid?.() ?? 1000 });
  const network = spec.network === undefined ? undefined : await openNetwork(spec.network, process.env);
  const own = spec.relays ?? [];
  const relayed = withRelays(command, [...own, ...(network?.relays ?? []).filter(({ port }) => !own.some((one) => one.port === port))]);
  const shown = { ...spec, binds: [...(spec.binds ?? []), ...relayed.binds, ...(network?.binds ?? [])] };
  const env = {
    PATH: insidePath(spec, facts, process.env.PATH), HOME: insideHome(spec), LANG: "C.UTF-8", TMPDIR: "/tmp", USER: "agent", ...network?.env, ...options.env,
  };
  const program = startProgram(bubblewrap, bubblewrapArgs(shown, facts, relayed.command), { env, stdin: options.stdin, pipes: 4 });
  void program.ended.then(() => network?.close());
  const handshake = shakeHands(program, [spec.marker === undefined ? "" : markerText(spec.marker), passwdFile(spec, facts), groupFile(facts)]);
  const sweep = async (): Promise<void> => {
    await endNamespace(handshake.init);
    await network?.close();
  };
  return { program, sandboxed: true, isReady: handshake.isReady, softStop: () => endPolitely(program), sweep };
}

function startPlain(spec: SandboxSpec, command: readonly string[], options: StartSandboxedOptions): SandboxedProgram {
  const tag = randomBytes(12).toString("hex");
  const env = {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: spec.home,
    LANG: "C.UTF-8",
    ...(spec.marker === undefined ? {} : { [MARKER_VARIABLE]: markerText(spec.marker).trim() }),
    ...options.env,
    [RUN_VARIABLE]: tag,
  };
  const [name = "", ...args] = command;
  const program = startProgram(name, args, { cwd: spec.cwd ?? spec.workspace, env, stdin: options.stdin });
  return { program, sandboxed: false, isReady: () => true, softStop: undefined, sweep: () => reapAll(tag) };
}

/** Again and again: a storm of forks may have made new ones while the list was read. */
async function reapAll(tag: string): Promise<void> {
  for (let round = 0; round < 50 && reap(tag); round++) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** bubblewrap ends as soon as the command has, and the kernel clears the namespace after that: only when its first process is gone is it empty. */
async function endNamespace(init: Promise<Owner | undefined>): Promise<void> {
  const first = await init;
  if (first === undefined) return;
  for (let round = 0; round < 1000 && (await isAlive(first)); round++) {
    signal(first.pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Sends the set-up data, and the go once the sandbox says that it stands. `init` is the first process inside. */
function shakeHands(child: Program, data: readonly string[]): { isReady(): boolean; init: Promise<Owner | undefined> } {
  const [handshake, ...sources] = child.pipes;
  let ready = false;
  const init = new Promise<Owner | undefined>((resolve) => {
    handshake?.once("data", async () => {
      ready = true;
      const first = childrenOf(child.pid)[0];
      resolve(first === undefined ? undefined : await ownerOf(first));
      handshake.write("go\n");
    });
    void child.ended.then(() => resolve(undefined));
  });
  sources.forEach((source, i) => source.end(data[i] ?? ""));
  return { isReady: () => ready, init };
}

/** bubblewrap does not pass signals on; its own end kills everything inside at once. */
function endPolitely(child: Program): void {
  const first = childrenOf(child.pid)[0];
  const command = childrenOf(first)[0];
  if (command === undefined || !signal(command, "SIGTERM")) child.kill("SIGKILL");
}

/** False when there is no such process. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function childrenOf(pid: number | undefined): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter((word) => word !== "").map(Number);
  } catch {
    return [];
  }
}

function refuseHome(spec: SandboxSpec): void {
  const home = realOf(spec.home);
  if (home !== spec.workspace && !home.startsWith(spec.workspace.endsWith(sep) ? spec.workspace : spec.workspace + sep)) return;
  throw new CruError("sandbox_missing", "the workspace holds your home folder, so a sandbox would hide nothing", { hint: "work in a project folder" });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function missing(): Promise<SandboxFault> {
  const state = await probeSandbox({ path: process.env.PATH });
  return state.ok ? sandboxFault("") : state;
}
