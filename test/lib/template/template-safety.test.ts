import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../../src/lib/template/parse-template.ts";
import { render, type RenderOptions } from "../../../src/lib/template/render.ts";
import { TemplateError } from "../../../src/lib/template/template-error.ts";

function show(template: string, data: unknown, options: RenderOptions = {}): string {
  return render(parseTemplate(template, "t.md"), data, options);
}

/** The template error of an act, undefined when there is none; anything else is thrown on. */
function ending(act: () => unknown): TemplateError | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
}

function failure(act: () => unknown): TemplateError {
  const error = ending(act);
  if (error === undefined) throw new Error("no error");
  return error;
}

describe("templates are inert", () => {
  it("text without {{ renders to itself", () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."ab {}\n\r\t\0-/*\"`'\\.$|()éЖ✓𝒳\u200b\ud800\uffff"), maxLength: 200 }).filter((t) => !t.includes("{{")), (text) => {
      expect(show(text, {})).toBe(text);
    }));
  });

  it("a value comes out as it went in, whatever it contains", () => {
    const pieces = fc.constantFrom("{{.b}}", "{{", "}}", "${x}", "{{include \"a.md\"}}", "$&", "$1", "{{-", "-}}", "`", "\\", "\0", "'", "é", " ", "{{/*", "*/}}", "%s", "%!d(");
    fc.assert(fc.property(fc.array(pieces).map((p) => p.join("")), (value) => {
      const partial = { include: (name: string) => ({ name, text: "{{.x}}" }) };
      expect(show("[{{.a}}]", { a: value, b: "never" })).toBe(`[${value}]`);
      expect(show('{{range .l}}{{with .}}{{printf "%s" .}}{{end}}{{end}}', { l: [value] })).toBe(value);
      expect(show('{{$v := .a}}{{include "p.md" x=$v}}', { a: value }, partial)).toBe(value);
      expect(show('{{join "" .l}}', { l: [value, value] })).toBe(value + value);
    }));
  });

  it("any mixture of template pieces renders or is a template error, nothing else", () => {
    const pieces = fc.constantFrom(
      "{{", "}}", "{{-", "-}}", "if", "else", "end", "range", "with", "break", "continue", "include", ".", ".a", "$", "$x", ":=", "=", "|", "(", ")", ",", " ", "\n",
      '"', '"s"', "`", "'", "'c'", "1", "-", "0x", "1.5", "eq", "and", "index", "slice", "printf", '"%d"', "len", "default", "nil", "true", "/*", "*/", "\\", "\0", "é", "𝒳", '"a.md"', "x=",
    );
    fc.assert(fc.property(fc.array(pieces, { maxLength: 25 }), fc.anything(), (parts, a) => {
      const text = parts.join("");
      for (const template of [text, `{{${text}}}`, `{{range .}}${text}{{end}}`, `{{if ${text}}}x{{end}}`]) {
        const act = (): unknown => show(template, { a, b: [a] }, { include: (name) => ({ name, text: "{{.x}}" }) });
        expect(() => ending(act)).not.toThrow();
      }
    }), { numRuns: 400 });
  });

  it("a place always lies inside the text", () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom("{", "}", "a", ".", "\n", " ", '"', "|", "-", "("), maxLength: 40 }), (text) => {
      const { line, column } = ending(() => show(text, { a: 1 })) ?? { line: 1, column: 1 };
      const lines = text.split("\n");
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
    }));
  });

  const inherited = ["constructor", "__proto__", "prototype", "toString", "valueOf", "hasOwnProperty", "length", "__defineGetter__", "name", "call", "then", "toJSON"];

  it.each(inherited)("never finds the inherited %s", (name) => {
    expect(failure(() => show(`{{.${name}}}`, {})).reason).toContain("unknown name");
    expect(show(`[{{.a.${name}}}]`, { a: {} })).toBe("[]");
    expect(show(`[{{index .a "${name}"}}]`, { a: {} })).toBe("[]");
    expect(show(`[{{.a.b.${name}.x}}]`, { a: {} })).toBe("[]");
    for (const value of ["text", [1], 5, true]) expect(failure(() => show(`{{.a.${name}}}`, { a: value })).reason).toContain("has no fields");
  });

  it("finds own properties of those names", () => {
    const data: unknown = JSON.parse('{"constructor":"c","__proto__":"p","a":{"__proto__":{"x":1},"length":9}}');
    expect(show("{{.constructor}}{{.__proto__}}{{.a.__proto__.x}}{{.a.length}}", data)).toBe("cp19");
    expect(show("{{range $k, $v := .}}{{$k}} {{end}}", data)).toBe("__proto__ a constructor ");
  });

  it("calls nothing: functions in the data are nil", () => {
    let called = false;
    const f = (): string => {
      called = true;
      return "x";
    };
    expect(show("[{{.f}}][{{.o.f}}][{{print .f}}]{{if .f}}T{{end}}", { f, o: { f } })).toBe("[][][<nil>]");
    expect(called).toBe(false);
  });

  it("a value that has no JSON is a template error", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(failure(() => show("{{.a}}", { a: loop })).reason).toBe("this value cannot be written as JSON");
  });

  it("renders the same template many times without a trace of the last", () => {
    const template = parseTemplate("{{$x := .a}}{{range .l}}{{$x = .}}{{end}}{{$x}}", "t.md");
    expect([render(template, { a: 1, l: [2] }), render(template, { a: 3, l: [] }), render(template, { a: 4, l: null })]).toEqual(["2", "3", "4"]);
  });
});

describe("hooks for whoever renders", () => {
  it("says how lists and maps become text, everywhere", () => {
    const collection = (value: object): string | undefined => ("output" in value ? String(value.output) : undefined);
    const data = { step: { output: "tests passed" }, l: [1] };
    expect(show('{{.step}}|{{printf "%s" .step}}|{{upper .step}}|{{.l}}', data, { collection })).toBe("tests passed|tests passed|TESTS PASSED|[1]");
  });

  it("has the last word on what an action writes, but not inside a partial", () => {
    const seen: unknown[] = [];
    const write = (text: string, value: unknown): string => `\${V${seen.push([text, value])}}`;
    expect(show('echo {{.a}} {{include "p.md" x=.a}}', { a: 3 }, { write, include: (name) => ({ name, text: "<{{.x}}>" }) })).toBe("echo ${V1} ${V2}");
    expect(seen).toEqual([["3", 3], ["<3>", "<3>"]]);
  });
});

describe("a hostile template ends with an error", () => {
  it.each([
    ["an endless loop", "{{range 9007199254740991}}{{end}}", "too much work"],
    ["loops in loops", "{{range 99999}}{{range 99999}}{{range 99999}}{{end}}{{end}}{{end}}", "too much work"],
    ["a long result", '{{$x := printf "%9999d" 1}}{{range 99999}}{{$x}}{{end}}', "too long"],
    ["a text that doubles", '{{$x := "0123456789"}}{{range 99}}{{$x = print $x $x}}{{end}}', "at most 10000000 characters"],
    ["escapes that grow a text", '{{$x := "<"}}{{range 22}}{{$x = print $x $x}}{{end}}{{$y := html $x}}', "at most 10000000 characters"],
    ["indentation of many lines", '{{$x := "\\n"}}{{range 22}}{{$x = print $x $x}}{{end}}{{indent 200 $x}}', "at most 10000000 characters"],
    ["a call with many long texts", `{{print ${" $.text".repeat(11)}}}`, "at most 10000000 characters"],
    ["a call with many long lists", `{{print ${" $.big".repeat(2000)}}}`, "too much work"],
    ["many wide numbers", `{{printf "${"%9999d".repeat(2000)}" ${" 1".repeat(2000)}}}`, "at most 10000000 characters"],
    ["the same JSON again and again", "{{range 999999}}{{$x := print $.big}}{{end}}", "too much work"],
    ["the same comparison again and again", "{{range 999999}}{{if eq $.text $.text}}{{end}}{{end}}", "too much work"],
    ["deep blocks", "{{if true}}".repeat(5000), "nested at most 64"],
    ["deep parentheses", `{{${"(".repeat(5000)}`, "nested at most 64"],
    ["a long pipeline", `{{1${" | print".repeat(5000)}}}`, "64 calls deep"],
    ["parentheses with pipelines", `{{${"(".repeat(40)}1${" | print | print)".repeat(40)}}}`, "64 calls deep"],
    ["a text past the limit", "x".repeat(1_000_001), "at most 1000000 characters"],
  ])("%s", (_, template, reason) => {
    const data = { big: Array.from({ length: 20_000 }, () => "0123456789"), text: "x".repeat(1_000_000) };
    expect(failure(() => show(template, data)).reason).toContain(reason);
  });

  it("includes that include many times", () => {
    const text = (name: string): string => (name === "p5.md" ? "x" : `{{range 100}}{{include "p${Number(name[1]) + 1}.md"}}{{end}}`);
    expect(failure(() => show('{{include "p1.md"}}', {}, { include: (name) => ({ name, text: text(name) }) })).reason).toContain("too much work");
  });

  it("reads every character of a template a bounded number of times", () => {
    // The text counts how often it is looked at: a parser that goes back over it would need more than a fixed number of looks per character.
    const units = ["{{.a}}", "{{- .a -}} ", "{{/* c */}}", "{{$x := 1}}", '{{"q"}}', "{{`r`}}", "{{if .a}}x{{else if .a}}y{{end}}", "{ { ", "                 {{- 1}}", "{{.a.b.c.d.e.f}}", "{{print 1 2 3 4 5 6}}"];
    for (const unit of units) {
      const [small, large] = [1000, 4000].map((n) => looks(unit.repeat(Math.ceil(n / unit.length))));
      expect(large! / small!).toBeLessThan(5);
    }
  });

  it.each([
    ["opening braces", "{{".repeat(50_000)],
    ["open comments", "{{/*".repeat(25_000)],
    ["quotes", `{{${'"'.repeat(100_000)}`],
    ["backquotes", `{{${"`".repeat(99_999)}`],
    ["spaces", `{{${" ".repeat(100_000)}`],
    ["spaces that are not trimmed", `${" ".repeat(100)}{{1}}`.repeat(900)],
    ["digits", `{{${"9".repeat(100_000)}`],
    ["digits that end in a letter", `{{${"9".repeat(99_999)}x}}`],
    ["exponents", `{{1${"e+".repeat(50_000)}`],
    ["underscores", `{{0x${"_".repeat(100_000)}`],
    ["dots", `{{${".a".repeat(50_000)}`],
    ["dollars", `{{${"$".repeat(100_000)}`],
    ["backslashes", `{{"${"\\".repeat(100_000)}`],
    ["a long text of escapes", `{{"${"\\n".repeat(50_000)}"}}`],
    ["declarations", "{{$x := 1}}".repeat(9000)],
    ["else if", `{{if .a}}${"{{else if .a}}".repeat(7000)}{{end}}`],
    ["a long format", `{{printf "${"%5d".repeat(33_000)}"}}`],
    ["flags of a format", `{{printf "%${"0".repeat(99_000)}" 1}}`],
  ])("100 kB of %s end", (_, template) => {
    expect(() => ending(() => show(template, { a: 0 }))).not.toThrow();
  });
});

/** How many characters of the source the parser asks for. */
function looks(text: string): number {
  let count = 0;
  const source = {
    length: text.length,
    indexOf: (part: string, from = 0) => {
      const found = text.indexOf(part, from);
      count += (found < 0 ? text.length : found) - from + 1;
      return found;
    },
    slice: (from: number, to = text.length) => {
      count += to - from;
      return text.slice(from, to);
    },
    startsWith: (part: string, at: number) => {
      count += part.length;
      return text.startsWith(part, at);
    },
    codePointAt: (at: number) => {
      count++;
      return text.codePointAt(at);
    },
  };
  const counted = new Proxy(source, {
    get: (target, key) => {
      if (typeof key !== "string" || !/^\d+$/.test(key)) return Reflect.get(target, key);
      count++;
      return text[Number(key)];
    },
  });
  parseTemplate(counted as unknown as string, "t.md");
  return count;
}
