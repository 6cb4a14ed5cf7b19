import type { Command } from "./command.ts";
import { AGENTS } from "./table/agents.ts";
import { BEADS } from "./table/beads.ts";
import { CHAT } from "./table/chat.ts";
import { CONFIG } from "./table/config.ts";
import { INBOX } from "./table/inbox.ts";
import { MCP } from "./table/mcp.ts";
import { NOTES } from "./table/notes.ts";
import { PROJECT } from "./table/project.ts";
import { SESSIONS } from "./table/sessions.ts";
import { SHELL } from "./table/shell.ts";
import { SPELLS } from "./table/spells.ts";
import { TASK } from "./table/task.ts";

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  ...PROJECT, ...CHAT, ...TASK, ...INBOX, ...SESSIONS, ...BEADS, ...AGENTS, ...SPELLS, ...NOTES, ...CONFIG, ...MCP, ...SHELL,
];
