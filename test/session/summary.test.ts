import { describe, expect, it } from "vitest";
import { splitSummary, summaryLine, summaryOf } from "../../src/session/summary.ts";

describe("summary", () => {
  it("is the Summary section, whatever stands around it", () => {
    expect(summaryOf("# Report\n\nLong text.\n\n## Summary\n\nTwo bugs.\n\nBoth small.\n\n## Notes\n\nmore")).toBe("Two bugs.\n\nBoth small.");
    expect(summaryOf("text\n\n### **summary**\nshort\n#### detail\nstill\n")).toBe("short\n#### detail\nstill");
    expect(splitSummary("a\n\n## Summary\nb\n\n## Rest\nc")).toEqual({ findings: "a\n\n## Rest\nc", summary: "b" });
  });

  it("the last one counts, and one inside a code fence does not", () => {
    expect(summaryOf("## Summary\nfirst\n\n## Summary\nlast")).toBe("last");
    expect(summaryOf("## Summary\nreal\n\n```md\n## Summary\nquoted\n```")).toBe("real\n\n```md\n## Summary\nquoted\n```");
    expect(summaryOf("Result first.\n\n```md\n## Summary\nquoted\n```")).toBe("Result first.");
  });

  it("without one the first paragraph stands in", () => {
    expect(summaryOf("# Title\n\nFirst\nparagraph.\n\nSecond.")).toBe("First\nparagraph.");
    expect(summaryOf("## Summary\n\n## Other\n\ntext")).toBe("text");
    expect(summaryOf("")).toBe("");
    expect(summaryOf("# only a title")).toBe("");
  });

  it("a person sees its first 100 characters on one inert line", () => {
    const text = "é".repeat(99) + "🙂b and more";
    expect(summaryLine(text)).toBe(`${"é".repeat(99)}🙂…`);
    expect(summaryLine("a\nb\u001b[2J")).toBe("a b␛[2J");
    expect(summaryLine("x".repeat(100))).toBe("x".repeat(100));
  });
});
