import { type ChatMachine, chatMachine } from "./chat.ts";
import { openWindow, type Window, type WindowOptions } from "./tmux.ts";

export const IDLE = "Ctrl-D leaves";

export type LiveChat = { box: ChatMachine; window: Window; open(args?: string[], options?: Partial<WindowOptions>): Window; say(text: string): void };

/** `cru chat` in a terminal against a scripted model, ready for the first word. */
export async function liveChat(script: Parameters<typeof chatMachine>[0], options: { files?: Parameters<typeof chatMachine>[1]; args?: string[]; ready?: string } & Partial<WindowOptions> = {}): Promise<LiveChat> {
  const { files = {}, args = [], ready = "claude-", ...window } = options;
  const box = await chatMachine(script, files);
  const open = (more: string[] = [], other: Partial<WindowOptions> = {}): Window =>
    openWindow(["chat", ...more], { cwd: box.project, ...window, ...other, env: { HOME: box.home, ...box.env, ...window.env, ...other.env } });
  const first = open(args);
  // Its model is only known when everything is loaded.
  await first.see(IDLE, ready);
  return {
    box,
    window: first,
    open,
    say(text) {
      first.type(text);
      first.press("Enter");
    },
  };
}

/** A reply that comes when the test says so. */
export function held<T>(value: T): { wait: Promise<T>; release(): void } {
  let release = (): void => {};
  const wait = new Promise<T>((resolve) => (release = () => resolve(value)));
  return { wait, release };
}

export function agentIn(name: string, head: Record<string, string> = {}): Record<string, string> {
  const all = { name, description: `${name} looks around`, permissions: "[FilesystemRead]", ...head };
  const lines = Object.entries(all).map(([k, v]) => `${k}: ${v}\n`).join("");
  return { [`.config/crucible/agents/${name}.md`]: `---\n${lines}---\nPROMPT-OF-${name}\n` };
}
