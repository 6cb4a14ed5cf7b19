import { fstatSync } from "node:fs";

/** How long a pipe may say nothing before it counts as one that was only inherited, as from CI or another program. */
const SILENCE_MS = 3000;

/**
 * What is piped in, up to its end; "" without a pipe, file or socket. Of a terminal or /dev/null nothing is read.
 * `patient`: the text is all there is, so it is waited for. Else a pipe from which nothing comes is given up, and undefined comes back.
 */
export async function pipedInput(options: { patient: boolean; silenceMs?: number }): Promise<string | undefined> {
  if (!canBeRead()) return "";
  const { stdin } = process;
  let all = "";
  let silent = false;
  const timer = options.patient
    ? undefined
    : setTimeout(() => {
        silent = true;
        stdin.destroy();
      }, options.silenceMs ?? SILENCE_MS);
  try {
    for await (const chunk of stdin.setEncoding("utf8")) {
      clearTimeout(timer);
      all += chunk;
    }
  } catch (error) {
    if (!silent) throw error;
  } finally {
    clearTimeout(timer);
  }
  return silent ? undefined : all;
}

function canBeRead(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}
