/** The `config.yaml` of a new project: comments only, so that it changes nothing until somebody edits it. */
export const CONFIG_TEMPLATE = `# yaml-language-server: $schema=schemas/config.schema.json
#
# Settings of this project. Everything is optional; what stands here behind a # is the built-in value.
#   flags > environment > this file > ~/.config/crucible/config.yaml > built-in
# \`cru config explain KEY\` tells which of them won. Commands, endpoints and looser rights are not taken
# from a project's file: they belong into your own settings. Settings of workflows (grimoires, scheduler, merge)
# are left out here: no command runs workflows yet.

# model: sonnet                   # for agents that name none: haiku, sonnet, opus or a full model id
# runner: auto                    # auto | model | claude | acp

# permissions:
#   deny: []                      # rights that no agent gets here, e.g. [NetworkAccess, DatabaseWrite]

# limits:                         # for a whole run with all its agents
#   children_total: 20
#   budget_usd: 10
#   time: 2h

# loop:
#   max_iterations: 15            # model replies with tool calls, then a progress report

# timeouts: {agent: 15m, idle: 10m}

# worktrees:
#   base: HEAD                    # where new branches start
#   setup: auto                   # finds npm, pnpm, yarn, uv, pip, cargo by their lockfile; or a command, or a list
#   copy: []                      # files that git does not know and agents need, e.g. [.env.test]
`;
