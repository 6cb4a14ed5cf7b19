import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const CONFIG: readonly Command[] = [
  {
    name: "config get",
    summary: "print a setting as it holds here, or all of them",
    args: [{ name: "[KEY]", summary: "dotted, such as limits.budget_usd" }],
    options: [json],
    examples: ["cru config get", "cru config get limits.budget_usd"],
    load: () => import("../commands/config-get.ts"),
  },
  {
    name: "config set",
    summary: "write a setting into your own config.yaml, comments kept",
    args: [{ name: "KEY", summary: "dotted, such as limits.budget_usd" }, { name: "VALUE", summary: "such as 5, 2h, null, a,b or [a, b]" }],
    options: [{ flags: "--project", summary: "write it into this project's file" }, json],
    examples: ["cru config set model opus", "cru config set permissions.deny Shell,NetworkAccess --project"],
    load: () => import("../commands/config-set.ts"),
  },
  {
    name: "config explain",
    summary: "say which file, variable or default a setting comes from",
    args: [{ name: "KEY", summary: "dotted, or a whole section such as limits" }],
    options: [json],
    examples: ["cru config explain model", "cru config explain sandbox"],
    load: () => import("../commands/config-explain.ts"),
  },
  {
    name: "config schema",
    summary: "print a JSON Schema, for editors and other programs",
    args: [{ name: "KIND", summary: "agent, grimoire, config or event", values: ["agent", "grimoire", "config", "event"] }],
    options: [json],
    examples: ["cru config schema agent > agent.schema.json"],
    load: () => import("../commands/config-schema.ts"),
  },
];
