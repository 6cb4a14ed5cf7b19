import { array, assert, constantFrom, integer, oneof, property, string } from "fast-check";
import { expect, it } from "vitest";
import { applyDelta, flushReply } from "../../../src/cli/chat/apply-event.ts";
import { newState } from "../../../src/cli/chat/chat-state.ts";
import { readKeys, type Key } from "../../../src/cli/chat/keys.ts";
import { type Line, lineWidth, paint, plainText } from "../../../src/cli/chat/line.ts";
import { renderMarkdown } from "../../../src/cli/chat/markdown.ts";

const block = constantFrom(
  "# A heading", "A paragraph of **bold** words\nthat goes on for a second line with `code` and *more*.", "- one\n- two\n  - deeper", "1. first\n2. second",
  "```ts\nconst a = 1;\n\n// b\nfunction f() {}\n```", "~~~\nno language\n\n\nhere\n~~~", "> quoted words", "| a | b |\n|---|---|\n| 1 | 2 |", "---", "日本語のとても長い段落はどこで折り返されるべきでしょうか、それが問題です。",
);

it("a reply that streams in pieces reads like one that came at once", () => {
  assert(
    property(array(block, { minLength: 1, maxLength: 8 }), array(integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }), (blocks, cuts) => {
      const text = blocks.join("\n\n");
      const state = newState(false);
      const lines: Line[] = [];
      for (let at = 0, i = 0; at < text.length; i++) {
        const size = cuts[i % cuts.length] ?? 1;
        lines.push(...applyDelta(state, "", { type: "text", text: text.slice(at, at + size) }, 60));
        at += size;
      }
      lines.push(...flushReply(state, 60));
      const words = (all: Line[]): string[] => all.map((l) => plainText(l)).filter((l) => l.trim() !== "");
      expect(words(lines)).toEqual(words(renderMarkdown(text, 60)));
    }),
  );
});

it("no line is wider than it may be, and nothing foreign reaches the terminal", () => {
  assert(
    property(array(oneof(block, string({ unit: "binary", maxLength: 200 })), { maxLength: 6 }), integer({ min: 20, max: 100 }), (blocks, width) => {
      for (const line of renderMarkdown(blocks.join("\n"), width)) {
        expect(lineWidth(line)).toBeLessThanOrEqual(width);
        // oxlint-disable-next-line no-control-regex
        expect(paint(line, false)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }
    }),
  );
});

it("keys are the same however their bytes are cut", () => {
  const bytes = "a\u001b[A\u001b[1;5D\u001bOF\u001b[200~pas\u001b[Ate\rd\u001b[201~é\u001b\r\r\n\u007f\u0003\u001b[99;99Zx";
  const read = (pieces: string[]): Key[] => {
    const keys: Key[] = [];
    const reader = readKeys((key) => keys.push(key));
    for (const piece of pieces) reader.feed(piece);
    reader.close();
    return keys;
  };
  const whole = read([bytes]);
  expect(whole).toEqual([
    { type: "text", text: "a" }, { type: "key", name: "up", alt: false }, { type: "key", name: "word-left", alt: false }, { type: "key", name: "end", alt: false },
    { type: "paste", text: "pas\u001b[Ate\nd" }, { type: "text", text: "é" }, { type: "key", name: "enter", alt: true }, { type: "key", name: "enter", alt: false },
    { type: "key", name: "newline", alt: false }, { type: "key", name: "backspace", alt: false }, { type: "key", name: "ctrl-c", alt: false }, { type: "key", name: "shift-tab", alt: false },
    { type: "text", text: "x" },
  ]);
  expect(read([...bytes])).toEqual(whole);
});
