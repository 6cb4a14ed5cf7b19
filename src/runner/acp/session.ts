import { RequestError } from "@agentclientprotocol/sdk";
import { DEFAULT_MODEL, MODEL_ALIASES, resolveModel } from "../../contract/model.ts";
import type { RunRequest } from "../../contract/runner.ts";
import { inertLine } from "../../lib/inert.ts";
import type { AgentMemory } from "../agent-memory.ts";
import type { GatePolicy } from "../gate.ts";
import { type Message, record, records, text } from "../message.ts";
import { claudeOptions, isClaudeAdapter } from "./claude-adapter.ts";
import type { AgentLink } from "./connect.ts";

/** What the agent says it is and can. */
export type AgentFacts = { name: string; version: string; capabilities: Message; isClaude: boolean };

export type SessionInput = { request: RunRequest; memory: AgentMemory; policy: GatePolicy; warn(message: string): void; /** Updates of a conversation that is only told again are not news. */ mute(on: boolean): void };
export type AgentSession = { id: string; resumed: boolean; model: string; /** The agent takes a system prompt, so it need not stand in the first message. */ hasSystem: boolean };

export const PROTOCOL_VERSION = 1;

export async function introduce(link: AgentLink, version: string): Promise<AgentFacts | { unsupported: unknown }> {
  const answer = await link.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    // Files and commands are the agent's own to handle, inside its sandbox.
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, elicitation: { form: {} } },
    clientInfo: { name: "crucible", title: "Crucible", version },
  });
  if (answer.protocolVersion !== PROTOCOL_VERSION) return { unsupported: answer.protocolVersion };
  const info = record(answer.agentInfo);
  return { name: inertLine(text(info.name), 80) || "unknown", version: inertLine(text(info.version), 40) || "unknown", capabilities: record(answer.agentCapabilities), isClaude: isClaudeAdapter(text(info.name)) };
}

/** The earlier conversation where the agent can go on with it, else a new one; then the model, where the agent lets it be chosen. */
export async function openSession(link: AgentLink, facts: AgentFacts, input: SessionInput): Promise<AgentSession> {
  const opened = (await resumed(link, facts, input)) ?? (await begun(link, facts, input));
  await chooseMode(link, opened.id, opened.answer);
  const model = await chooseModel(link, opened.id, opened.answer, facts, input);
  return { id: opened.id, resumed: opened.resumed, model, hasSystem: facts.isClaude || takesSystem(facts) };
}

type Opened = { id: string; resumed: boolean; answer: Message };

async function begun(link: AgentLink, facts: AgentFacts, input: SessionInput): Promise<Opened> {
  const answer = await link.request("session/new", parameters(facts, input));
  return { id: text(answer.sessionId), resumed: false, answer };
}

async function resumed(link: AgentLink, facts: AgentFacts, input: SessionInput): Promise<Opened | undefined> {
  const id = input.memory.session;
  if (!input.request.resume || id === null) return undefined;
  const method = has(record(facts.capabilities.sessionCapabilities), "resume") ? "session/resume" : facts.capabilities.loadSession === true ? "session/load" : undefined;
  if (method === undefined) {
    input.warn(`${facts.name} cannot go on with an earlier conversation; it starts afresh`);
    return undefined;
  }
  input.mute(true);
  try {
    return { id, resumed: true, answer: await link.request(method, { sessionId: id, ...parameters(facts, input) }) };
  } catch (error) {
    input.warn(`${facts.name} could not go on with the earlier conversation and starts afresh: ${(error as Error).message}`);
    return undefined;
  } finally {
    input.mute(false);
  }
}

function parameters(facts: AgentFacts, { request, policy, warn }: SessionInput): Message {
  const http = record(facts.capabilities.mcpCapabilities).http === true;
  const mcpServers = Object.entries(request.mcpServers).flatMap(([name, server]): Message[] => {
    if (server.url === undefined) return [{ name, command: server.command ?? "", args: server.args ?? [], env: Object.entries(server.env ?? {}).map(([key, value]) => ({ name: key, value })) }];
    if (!http) warn(`${facts.name} takes no MCP servers over HTTP: ${name} is left out`);
    return http ? [{ type: "http", name, url: server.url, headers: [] }] : [];
  });
  return {
    cwd: request.workspace,
    mcpServers,
    ...(request.system !== "" && takesSystem(facts) ? { systemPrompt: { mode: "append", content: [{ type: "text", text: request.system }] } } : {}),
    ...(facts.isClaude ? { _meta: { ...claudeOptions(request, policy), ...(request.system === "" || takesSystem(facts) ? {} : { systemPrompt: { append: request.system } }) } } : {}),
  };
}

function takesSystem(facts: AgentFacts): boolean {
  return has(record(facts.capabilities.sessionCapabilities), "systemPrompt");
}

/** An agent's own mode is never looser than the gates: one that would not ask is changed for the one that does. */
async function chooseMode(link: AgentLink, sessionId: string, answer: Message): Promise<void> {
  const modes = record(answer.modes);
  const current = text(modes.currentModeId);
  if (current === "" || current === "default" || !records(modes.availableModes).some((mode) => mode.id === "default")) return;
  await link.request("session/set_mode", { sessionId, modeId: "default" });
}

/** What the session runs on then, as far as the agent says. */
async function chooseModel(link: AgentLink, sessionId: string, answer: Message, facts: AgentFacts, { request, warn }: SessionInput): Promise<string> {
  const option = records(answer.configOptions).find((one) => one.category === "model" || one.id === "model");
  const offered = option === undefined ? [] : records(option.options).flatMap((one) => (Array.isArray(one.options) ? records(one.options) : [one])).map((one) => text(one.value));
  const id = resolveModel(request.model);
  const names = [request.model, id, ...Object.entries(MODEL_ALIASES).flatMap(([alias, full]) => (full === id ? [alias] : [])), `anthropic/${id}`, `openai/${id}`];
  // The Claude adapters take ids that they do not list.
  const wanted = names.find((name) => offered.includes(name)) ?? offered.find((value) => value.endsWith(`/${id}`)) ?? (facts.isClaude ? id : undefined);
  try {
    if (option !== undefined && wanted !== undefined) {
      if (option.currentValue !== wanted) await link.request("session/set_config_option", { sessionId, configId: text(option.id), value: wanted });
      return id;
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
  }
  const used = text(option?.currentValue);
  // Where nothing can be chosen, nobody misses the default.
  if (offered.length > 0 || id !== resolveModel(DEFAULT_MODEL)) warn(`the agent does not offer the model ${request.model}; it uses ${used === "" ? "its own" : used}`);
  return used === "" ? id : used;
}

function has(value: Message, key: string): boolean {
  return value[key] !== undefined && value[key] !== null;
}
