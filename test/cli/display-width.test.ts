import { expect, it } from "vitest";
import { displayWidth } from "../../src/cli/display-width.ts";
import { createEditor } from "../../src/cli/chat/editor.ts";
import { paint, span } from "../../src/cli/chat/line.ts";
import { inert } from "../../src/lib/inert.ts";

it.each([["plain", 5], ["日本語", 6], ["🎉", 2], ["🇩🇪", 2], ["e\u0301", 1], ["한글", 4], ["…→✓", 3]])("columns of %s", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

it("emoji that terminals measure differently are shown in a form that all measure the same", () => {
  const family = "👩\u200d👩\u200d👧 ❤\ufe0f";
  expect(paint([span(inert(family))], false)).toBe("👩👩👧 ❤");
  expect(displayWidth(inert(family))).toBe(8);
  const editor = createEditor();
  editor.press({ type: "text", text: family });
  expect(editor.layout(40)).toMatchObject({ cursor: { row: 0, column: 8 } });
  expect(editor.text()).toBe(family);
  // A joiner elsewhere could hide something.
  expect(inert("pass\u200dword")).toBe("pass<U+200D>word");
});
