import { homeFolder } from "../../config/paths.ts";
import { chooseMcpServers, onThisMachine } from "../mcp/choose-mcp-servers.ts";
import { type Check, finding } from "./check.ts";
import { settingsOf } from "./settings.ts";

/** Says nothing where no server is configured. Whether one that is there also answers, its first start shows. */
export const mcpCheck: Check = {
  id: "mcp",
  look(input) {
    const mcp = settingsOf(input)?.settings.mcp;
    if (mcp === undefined) return [];
    const workspace = input.paths.root;
    const onlyForTasks = Object.entries(mcp.servers).flatMap(([name, server]) => (server.default === false ? [name] : []));
    const { servers, warnings } = chooseMcpServers({ settings: mcp, task: onlyForTasks, workspace, env: input.env }, onThisMachine({ workspace, home: homeFolder(input.env), path: input.env.PATH }));
    const names = Object.keys(servers);
    return [
      ...(names.length === 0 ? [] : [finding("mcp", "ok", `MCP servers: ${names.join(", ")}`)]),
      ...warnings.map((warning) => {
        const [message = "", ...fix] = warning.split("; ");
        return finding("mcp", "warn", message, fix.length === 0 ? "correct `mcp` in the settings" : fix.join("; "));
      }),
    ];
  },
};
