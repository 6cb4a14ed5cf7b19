import { describe, expect, it } from "vitest";
import { codeSpan, plainMarkdown, tameMarkdown, wikilink } from "../../src/lib/wikilink.ts";

describe("wikilink", () => {
  it("links names that we made and nothing else", () => {
    expect(wikilink("code-reviewer-1a2b")).toBe("[[code-reviewer-1a2b]]");
    for (const bad of ["../x", "a]]b", "a|b", "a\nb", "a#b", "Some Name"]) expect(() => wikilink(bad)).toThrow("not a name");
  });
});

/** Anything that a markdown reader would follow, outside code fences. */
function liveLinks(markdown: string): string[] {
  const text = markdown.replace(/^(`{3,}|~{3,}).*\n[\s\S]*?\n\1[`~]*$/gm, "");
  return [/\[\[/, /\]\((?!\s*<?https?:)/i, /^[>\-*+\s]*\[[^\]\\]*\]:/m, /<[a-z/!?]/i, /!\[/, /\$\$/, /%%/].filter((p) => p.test(text)).map(String);
}

describe("tameMarkdown", () => {
  it.each([
    "[[../../secret]] and ![[x]] and [[[[a]]]]",
    "\\[[x]] \\\\[[y]]",
    "[click](javascript:alert(1)) [x](file:///etc/passwd) [y](../../../x.md) [z]( JAVASCRIPT:x)",
    "[a](\njavascript:alert(1))",
    "[ref]: javascript:alert(1)\n> [ref]: javascript:alert(1)\n- [r]: file:///x",
    "<a href='javascript:x'>x</a> \\<script>alert(1)</script> <javascript:alert(1)> <!-- x",
    "![](https://example.org/track.png)",
    "- a\n  ```\n[[evil]]\n```\n[[more]]",
    "$$\n```\n$$\n[[evil]]",
    "%%\n```\n%%\n[[evil]]",
    "``` `x\n[[evil]]",
    "````\n```\n[[in code]]\n````\n[[evil]]",
  ])("leaves no live link in %j", (text) => {
    expect(liveLinks(tameMarkdown(text))).toEqual([]);
  });

  it("keeps code fences, http links and plain text as they are, and closes an open fence", () => {
    const code = "```sh\nif [[ -f x ]]; then echo '<b>' | cat; fi\n```";
    expect(tameMarkdown(code)).toBe(code);
    expect(tameMarkdown("see [docs](https://example.org/a_b) for 50 % of a < b")).toBe("see [docs](https://example.org/a_b) for 50 % of a < b");
    expect(tameMarkdown("```\nopen")).toBe("```\nopen\n```");
  });

  it("cannot make a heading of ours", () => {
    expect(tameMarkdown("# one\n## Summary\n### three\nText\n---\nText\n===")).toBe("### one\n### Summary\n### three\nText\n\\---\nText\n\\===");
  });

  it("shows control characters instead of obeying them", () => {
    expect(tameMarkdown("a\u001b[31mb\u202ec\rd")).toBe("a␛[31mb&lt;U+202E>c␍d");
  });
});

describe("one line", () => {
  it("has no markup left", () => {
    expect(plainMarkdown("a]] | [[b]]\n# <i> `x` javascript:y")).toBe("a\\]\\] \\| \\[\\[b\\]\\] \\# \\<i\\> \\`x\\` javascript\\:y");
  });

  it("code spans hold any text", () => {
    expect(codeSpan("a")).toBe("`a`");
    expect(codeSpan("a`b``c\nd")).toBe("``` a`b``c d ```");
    expect(codeSpan("")).toBe("`  `");
    expect(codeSpan("[[[a]]]")).toBe("`[ [ [a] ] ]`");
  });
});
