import type { Env } from "../../config/paths.ts";
import { MCP_PRESETS, type McpPreset, type McpServer } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { findProgram } from "../../lib/find-program.ts";
import { inertLine } from "../../lib/inert.ts";
import { didYouMean } from "../../lib/nearest.ts";
import { PRESETS } from "../../tools/mcp/presets.ts";
import { type Place, serverProgram, type ServerProgram } from "../../tools/mcp/server-program.ts";

export type McpChoice = {
  settings: Settings["mcp"];
  /** What the task asks for besides: `NAME`, or `NAME=SERVER` to have another server under that name. */
  task: readonly string[];
  workspace: string;
  /** The user's: variables that a preset needs come from here, and go to that server only. */
  env: Env;
};

export type ChooseDeps = {
  /** Looks for the program on this machine; nothing is downloaded. */
  find(server: { command: string; args?: string[] }): ServerProgram;
  /** The path of the first of these programs that is there. */
  program(names: readonly string[]): string | undefined;
};

export function onThisMachine(place: Place): ChooseDeps {
  return {
    find: (server) => serverProgram(server, place),
    program: (names) => names.map((name) => findProgram(name, { path: place.path, notBelow: place.workspace })).find((path) => path !== undefined),
  };
}

export type ChosenServers = { servers: Record<string, McpServer>; warnings: string[] };

/**
 * The servers of one agent: the session's (presets, then own definitions) and those that its task names, which win. One that cannot run here
 * is left out with a warning that says what to do; the agent starts without it.
 */
export function chooseMcpServers(input: McpChoice, deps: ChooseDeps): ChosenServers {
  const warnings: string[] = [];
  const chosen = new Map<string, McpServer>();
  const add = (name: string, definition: Definition): void => {
    const found = complete(definition, input, deps);
    if (found.ok) chosen.set(name, found.server);
    else warnings.push(inertLine(`the MCP server ${name} is left out: ${found.why}`, 1500));
  };
  const own = Object.entries(input.settings.servers).filter(([, server]) => server.default !== false);
  // A task's server that cannot run does not give way to the session's: the task would work with something else than it asked for.
  const task = new Map(input.task.map(readWanted));
  for (const preset of input.settings.presets) if (!task.has(preset) && !own.some(([name]) => name === preset)) add(preset, { preset });
  for (const [name, server] of own) if (!task.has(name)) add(name, { server });
  for (const [name, wanted] of task) {
    const definition = definitionOf(wanted, input.settings);
    if (definition === undefined) warnings.push(unknownServer(wanted, input.settings));
    else add(name, definition);
  }
  return { servers: Object.fromEntries(chosen), warnings };
}

/** The labels of a bead that ask for servers: `mcp:NAME`. */
export function mcpLabels(labels: readonly string[]): string[] {
  return labels.filter((label) => label.startsWith("mcp:")).map((label) => label.slice("mcp:".length).trim()).filter((name) => name !== "");
}

type Definition = { preset: McpPreset } | { server: McpServer };

function readWanted(text: string): [name: string, wanted: string] {
  const [name = "", wanted = name] = text.split("=", 2);
  return [name.trim(), wanted.trim()];
}

/** A definition of one's own is meant before a preset of the same name. */
function definitionOf(name: string, settings: Settings["mcp"]): Definition | undefined {
  const server = Object.hasOwn(settings.servers, name) ? settings.servers[name] : undefined;
  if (server !== undefined) return { server };
  return isPreset(name) ? { preset: name } : undefined;
}

function isPreset(name: string): name is McpPreset {
  return (MCP_PRESETS as readonly string[]).includes(name);
}

function unknownServer(name: string, settings: Settings["mcp"]): string {
  const known = [...new Set([...Object.keys(settings.servers), ...MCP_PRESETS])];
  return inertLine(`the task asks for the MCP server '${name}', and there is none of that name (${didYouMean(name, known)})`, 1500);
}

type Completed = { ok: true; server: McpServer } | { ok: false; why: string };

function complete(definition: Definition, input: McpChoice, deps: ChooseDeps): Completed {
  if ("server" in definition) return available(definition.server, undefined, deps);
  const preset = PRESETS[definition.preset];
  const env: Record<string, string> = {};
  for (const { name, from } of preset.variables) {
    const value = from.map((variable) => input.env[variable]).find((text) => text !== undefined && text !== "");
    if (value === undefined) return { ok: false, why: `${name} is not set; set it, or one of ${from.filter((other) => other !== name).join(", ")}` };
    env[name] = value;
  }
  const server = preset.server(input);
  const needed = preset.program;
  if (needed !== undefined) {
    const path = deps.program(needed.names);
    if (path === undefined) return { ok: false, why: `${needed.names.join(", ")}: none of them was found on PATH; ${preset.install}` };
    server.args = [...(server.args ?? []), needed.option, path];
  }
  return available(Object.keys(env).length === 0 ? server : { ...server, env }, preset.install, deps);
}

function available(server: McpServer, install: string | undefined, deps: ChooseDeps): Completed {
  if (server.command === undefined) return { ok: true, server };
  const found = deps.find({ command: server.command, ...(server.args === undefined ? {} : { args: server.args }) });
  if (found.ok) return { ok: true, server };
  return { ok: false, why: install === undefined ? found.why : `${found.why.split(";")[0]}; ${install}` };
}
