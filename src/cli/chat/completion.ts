import { SLASH } from "./slash-commands.ts";

/** What could stand where the cursor is: `replaces` characters before it give way to the chosen one. */
export type Menu = { replaces: number; items: readonly MenuItem[]; chosen: number };
export type MenuItem = { text: string; about: string };

const MODELS: MenuItem[] = ["haiku", "sonnet", "opus"].map((text) => ({ text, about: "" }));

/** Commands after `/` at the beginning, files after `@`. Undefined when there is nothing to choose. */
export function menuFor(before: string, filesLike: (part: string) => readonly string[]): Menu | undefined {
  const slash = /^\/[a-z]*$/.exec(before)?.[0];
  if (slash !== undefined) return menu(slash.length, Object.entries(SLASH).filter(([name]) => name.startsWith(slash)).map(([text, about]) => ({ text, about })));
  const model = /^\/model ([a-z]*)$/.exec(before)?.[1];
  if (model !== undefined) return menu(model.length, MODELS.filter((m) => m.text.startsWith(model)));
  const part = /(?:^|\s)@([^\s@]*)$/.exec(before)?.[1];
  if (part !== undefined) return menu(part.length, filesLike(part).map((text) => ({ text, about: "" })));
  return undefined;
}

/** True when the chosen one is there already, letter by letter. */
export function isTyped({ replaces, items, chosen }: Menu, before: string): boolean {
  return items[chosen]?.text === before.slice(before.length - replaces);
}

function menu(replaces: number, items: MenuItem[]): Menu | undefined {
  return items.length === 0 ? undefined : { replaces, items, chosen: 0 };
}
