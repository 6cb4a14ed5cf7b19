import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAX_AGENT_DEPTH } from "../../src/contract/permission.ts";
import { depthExceeded } from "../../src/subagents/spawn.ts";
import { chatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";
import { describeSandboxed } from "../support/sandbox.ts";

/** Every path by which an agent can start, and the function that it goes through. A new one must be added here, with its test. */
const DOORS: Record<string, { file: string; calls: RegExp }> = {
  "the primary of a chat": { file: "src/app/chat/agents-of.ts", calls: /runAgent\(specOf/ },
  "a child, by tool or by plan": { file: "src/app/chat/agents-of.ts", calls: /runAgent\(spec, / },
  "the tool spawn_agent and plan tasks": { file: "src/subagents/spawn-agent.ts", calls: /await spawn\(parent, request, deps\)/ },
  "a client of cru mcp": { file: "src/app/mcp/open-tools.ts", calls: /openToolDoor\(/ },
  "an agent of another program, by cru mcp in its sandbox": { file: "src/app/mcp/tools-for-runner.ts", calls: /openToolDoor\(/ },
};

describe("doors", () => {
  it("nobody else starts an agent: each caller of the loop and of spawn is in the table", () => {
    const callers = (pattern: RegExp): string[] => sources().flatMap(([path, text]) => (pattern.test(text) ? [path] : []));
    expect(callers(/\brunLoop\(/)).toEqual(["src/agent/run-loop.ts", "src/app/chat/run-agent.ts"]);
    expect(callers(/(?<!function )\brunAgent\(/)).toEqual(["src/app/chat/agents-of.ts", "src/subagents/reflexion.ts", "src/subagents/spawn.ts"]);
    expect(callers(/import \{[^}]*\bspawn\b[^}]*\} from "\.\/spawn\.ts"/)).toEqual(["src/subagents/spawn-agent.ts"]);
    expect(callers(/(?<!function )(?:spawnAgentTool|startTask)\(parent/)).toEqual(["src/app/chat/agents-of.ts"]);
    expect(callers(/(?<!function )\bopenDesk\(/)).toEqual(["src/app/chat/agents-of.ts"]);
    expect(callers(/\.desk\(/)).toEqual(["src/app/mcp/tool-door.ts"]);
    expect(callers(/(?<!function )\bopenToolDoor\(/)).toEqual(["src/app/mcp/open-tools.ts", "src/app/mcp/tools-for-runner.ts"]);
    for (const { file, calls } of Object.values(DOORS)) expect(readFileSync(join(repository, file), "utf8")).toMatch(calls);
  });

  it("[CRU-7.4.1] [CRU-7.4.2] [CRU-7.4.3] the limit is one constant, 2, and the message follows it", () => {
    expect(MAX_AGENT_DEPTH).toBe(2);
    expect(depthExceeded().message).toContain(`Maximum agent depth (${MAX_AGENT_DEPTH}) exceeded`);
    const written = sources().filter(([, text]) => /MAX_AGENT_DEPTH = /.test(text)).map(([path]) => path);
    expect(written).toEqual(["src/contract/permission.ts"]);
  });
});

describeSandboxed("cru from an agent's own command line", () => {
  // Inside the sandbox only the workspace and the system's programs exist, so the program is put there.
  const cru = `${process.execPath} tool/dist/main.js chat -p hello`;
  const mcp = `${process.execPath} tool/dist/main.js mcp </dev/null`;

  it("is refused at depth 1 with the depth limit, at depth 0 with a word on spawn_agent", async () => {
    const home = { ".config/crucible/agents/sh.md": "---\nname: sh\ndescription: shell\npermissions: [Shell]\n---\nPROMPT-OF-sh\n" };
    const command = { name: "run_command", input: { command: `${cru}; CRUCIBLE_AGENT= ${cru}; ${mcp}` }, id: "c" };
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-sh" }, by: "turn", replies: [{ tools: [command] }, { text: "could not" }] },
          { match: {}, by: "turn", replies: [{ tools: [command] }, { tools: [{ name: "spawn_agent", input: { agent: "sh", task: "t" }, id: "s" }] }, { text: "ok" }, { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "", content: "" } }] }] },
        ],
      } as Parameters<typeof chatMachine>[0],
      { home },
    );
    for (const part of ["dist", "builtin"]) cpSync(join(repository, part), join(box.project, "tool", part), { recursive: true });
    await box.chat(["x"], { env: { PATH: process.env.PATH ?? "" } });
    const outputs = box.session().events.flatMap((e) => (e.type === "agent.tool_result" && e.tool === "run_command" ? [e.output] : []));
    expect(outputs).toHaveLength(2);
    expect(outputs[0]?.match(/an agent starts others with spawn_agent/g)).toHaveLength(3);
    expect(outputs[1]?.match(/Maximum agent depth \(2\) exceeded/g)).toHaveLength(3);
    expect(box.sessions()).toHaveLength(1);
  });
});

function sources(): [string, string][] {
  const walk = (folder: string): string[] =>
    readdirSync(join(repository, folder)).sort().flatMap((name) => {
      const path = `${folder}/${name}`;
      return statSync(join(repository, path)).isDirectory() ? walk(path) : path.endsWith(".ts") ? [path] : [];
    });
  return walk("src").map((path) => [path, readFileSync(join(repository, path), "utf8")]);
}
