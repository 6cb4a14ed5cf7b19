import { type Check, finding, isBelow, versionIn } from "./check.ts";

const LEAST = [20, 19, 0];

export const nodeCheck: Check = {
  id: "node",
  look() {
    const version = process.versions.node;
    if (isBelow(versionIn(version) ?? [0], LEAST)) return [finding("node", "fail", `Node ${version} is too old`, "install Node 20.19 or newer")];
    const found = [finding("node", "ok", `Node ${version}`)];
    if (process.platform === "win32") found.push(finding("platform", "fail", "Windows itself is not supported", "open WSL and run the same command there"));
    if (process.platform === "darwin") found.push(finding("platform", "warn", "macOS is written for but not tested", "report what does not work"));
    return found;
  },
};
