import { z } from "zod";
import { CruError } from "../contract/error.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import type { Tool, ToolResult } from "../contract/tool.ts";
import { PROTECTED_NAMES } from "../lib/protected-path.ts";
import type { AgentMarker } from "../sandbox/marker.ts";
import { runSandboxed, type SandboxedResult } from "../sandbox/run-sandboxed.ts";
import type { Bind, SandboxNetwork, SandboxSpec } from "../sandbox/spec.ts";
import { protectedByCommand } from "./command-traits.ts";
import prose from "./run-command.md";

const DEFAULT_S = 120;
const inputSchema = z.object({
  command: z.string().min(1).max(100_000).refine((text) => !text.includes("\0"), "a command cannot hold a NUL byte"),
  timeout_s: z.number().positive().max(3600).optional(),
  writes: z.array(z.enum(PROTECTED_NAMES)).optional().describe("Protected paths that the command must change"),
});

export type RunCommandInput = z.infer<typeof inputSchema>;

export type RunCommandDeps = {
  sandbox: Pick<Settings["sandbox"], "mode">;
  /** `ask`: without a sandbox every command is asked about first (the gate does), and then runs plainly. `refuse`: it does not run. */
  withoutSandbox: "ask" | "refuse";
  /** Whether a sandbox works here; found out once. */
  hasSandbox: boolean;
  home: string;
  marker: AgentMarker;
  /** False for an agent without FilesystemWrite: its commands see the workspace read-only. */
  mayWrite: boolean;
  /** The open hosts; without it a command has no network. */
  network?: SandboxNetwork;
  asideFolder?: string;
  /** What commands see beside the workspace. */
  binds?: readonly Bind[];
  env?: Record<string, string>;
  /** Tells a person that protected paths appeared and were moved. */
  onAppeared?: (appeared: SandboxedResult["appeared"]) => void;
};

const MOST_BYTES = 30_000;

export function runCommandTool(deps: RunCommandDeps): Tool<RunCommandInput> {
  return {
    name: "run_command",
    description: `${prose.trim()}${networkProse(deps)}`,
    input: inputSchema,
    needs: ["Shell"],
    changes: true,
    async run(input, { workspace, signal }) {
      const mode = deps.sandbox.mode === "required" && !deps.hasSandbox && deps.withoutSandbox === "ask" ? "off" : deps.sandbox.mode;
      const timeoutS = input.timeout_s ?? DEFAULT_S;
      const refused: string[] = [];
      try {
        const result = await runSandboxed(
          { workspace, writable: deps.mayWrite, home: deps.home, marker: deps.marker, allowProtected: protectedByCommand(input), binds: deps.binds ?? [], ...hearing(deps.network, refused) },
          ["/bin/sh", "-c", input.command],
          {
            mode, signal, timeoutMs: timeoutS * 1000, maxBytes: MOST_BYTES,
            ...(deps.env === undefined ? {} : { env: deps.env }),
            ...(deps.asideFolder === undefined ? {} : { asideFolder: deps.asideFolder }),
          },
        );
        if (result.appeared.length > 0) deps.onAppeared?.(result.appeared);
        return report(result, timeoutS, refused);
      } catch (error) {
        if (error instanceof CruError) return { ok: false, output: `the command did not run: ${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}` };
        throw error;
      }
    },
    async preview(input, { workspace }) {
      const writes = protectedByCommand(input);
      const how = deps.sandbox.mode === "external" ? "as it is, in the fence that you vouch for" : deps.hasSandbox && deps.sandbox.mode === "required" ? "in the sandbox" : "WITHOUT a sandbox, with your rights";
      const notes = [`folder: ${workspace}`, `runs ${how}`, ...(writes.length > 0 ? [`may write: ${writes.join(", ")}`] : [])];
      return { title: `run: ${firstLine(input.command)}`, body: `${input.command}\n\n${notes.join("\n")}`, reversible: deps.hasSandbox, impact: `runs a command ${how}${writes.length > 0 ? ` that may write ${writes.join(", ")}` : ""}` };
    },
  };
}

function networkProse({ network, sandbox }: RunCommandDeps): string {
  return network === undefined || sandbox.mode !== "required" ? "" : ` Of the network only these hosts are open to it, through the proxy that HTTP_PROXY and HTTPS_PROXY name: ${network.hosts.join(", ")}.`;
}

/** The same network, with what it refuses also written down for this command. */
function hearing(network: SandboxNetwork | undefined, refused: string[]): Pick<SandboxSpec, "network"> {
  if (network === undefined) return {};
  return {
    network: {
      ...network,
      onRefused(refusal) {
        refused.push(refusal.host);
        network.onRefused?.(refusal);
      },
    },
  };
}

function report(result: SandboxedResult, timeoutS: number, refused: readonly string[]): ToolResult {
  const streams = [result.stdout, result.stderr === "" ? "" : `[stderr]\n${result.stderr}`].filter((text) => text !== "").map((text) => text.replace(/\n$/, ""));
  const output = [...streams, ending(result, timeoutS), ...notes(result), ...(refused.length === 0 ? [] : [`[not open in the sandbox: ${refused.join(", ")}; the user is told]`])].join("\n");
  return { ok: result.code === 0 && !result.timedOut && !result.aborted, output };
}

function ending(result: SandboxedResult, timeoutS: number): string {
  if (result.failure !== null) return `[not started: ${result.failure.message}]`;
  if (result.timedOut) return `[ended after ${timeoutS} s, the time it had; give timeout_s for longer commands]`;
  if (result.aborted) return "[interrupted]";
  return result.code === null ? `[ended by ${result.signal}]` : `[exit code ${result.code}]`;
}

function notes(result: SandboxedResult): string[] {
  const appeared = result.appeared.map(({ name }) => `[${name} is protected: what the command made there was moved out of the workspace; the user decides whether it goes in]`);
  const refused = result.code !== 0 && result.sandboxed && /Read-only file system/.test(result.stderr) ? ["[protected paths are read-only; name those that the command must change in `writes`]"] : [];
  return [...appeared, ...refused];
}

function firstLine(command: string): string {
  const [line = ""] = command.split("\n");
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
