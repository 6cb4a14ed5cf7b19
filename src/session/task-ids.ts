import { createHash } from "node:crypto";
import { resultName } from "./result-file.ts";

/** Task ids of one session, each unique for its agent. The same key gives the same id, after a restart too. */
export function createTaskIds(sessionId: string): (agent: string, key: string) => string {
  const taken = new Map<string, string>();
  return (agent, key) => {
    const digits = createHash("sha256").update(`${sessionId}\0${key}`).digest("hex");
    for (let length = 4; ; length++) {
      const taskId = digits.slice(0, length);
      const name = resultName(agent, taskId);
      if (length < digits.length && (taken.get(name) ?? key) !== key) continue;
      taken.set(name, key);
      return taskId;
    }
  };
}
