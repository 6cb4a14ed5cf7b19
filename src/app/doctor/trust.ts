import { openTrust } from "../../trust/open-trust.ts";
import { type Check, finding } from "./check.ts";

export const trustCheck: Check = {
  id: "trust",
  look({ paths, env, trust }) {
    const changes = openTrust(paths, env).changes().filter((change) => change.kind !== "removed");
    if (trust || openTrust(paths, env).isTrusted(paths.project.config, "")) {
      return [finding("trust", "info", `everything in this project is trusted (${trust ? "--trust" : "CRU_TRUST"})`, changes.length === 0 ? null : "`cru trust` shows what that covers")];
    }
    if (changes.length === 0) return [finding("trust", "ok", "nothing here waits for your trust")];
    const [added, changed] = (["added", "changed"] as const).map((kind) => changes.filter((change) => change.kind === kind).length);
    return [finding("trust", "warn", `definitions and settings of this project are not used: ${added} new, ${changed} changed since you trusted them`, "cru trust")];
  },
};
