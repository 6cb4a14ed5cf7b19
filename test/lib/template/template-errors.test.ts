import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../../src/lib/template/parse-template.ts";
import { render } from "../../../src/lib/template/render.ts";
import { TemplateError } from "../../../src/lib/template/template-error.ts";

const data = { name: "Ada", list: ["a"], map: { a: 1 }, n: 3, half: 1.5, nothing: null, yes: true };

function failure(template: string): TemplateError {
  try {
    render(parseTemplate(template, "review.md"), data);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error(`no error for ${template}`);
}

/** Template, then the message with its place, then (part of) the hint. */
const WHILE_PARSING: readonly (readonly [string, string, string?])[] = [
  ["{{else}}", '1:3: unexpected "else"'],
  ["a\nb {{end}}", '2:5: unexpected "end"'],
  ["\n\n    {{if .yes}}x{{else}}y{{else}}z{{end}}", '3:28: unexpected "else"', "already has one"],
  ["{{if .yes}}x", '1:3: "if" is never closed', "{{end}}"],
  ["{{range .list}}{{if .}}x{{end}}", '1:3: "range" is never closed'],
  ["{{if}}x{{end}}", '1:5: missing value for "if"'],
  ["{{range}}x{{end}}", '1:8: missing value for "range"'],
  ["{{}}", "1:3: missing value for an action"],
  ["{{ }}", "1:4: missing value for an action"],
  ["x {{ .name", "1:3: unclosed action"],
  ["x {{ .name }", '1:12: unexpected "}"'],
  ["{{/* never", "1:1: unclosed comment"],
  ["{{/* a */ b}}", '1:10: a comment must end with "*/}}"'],
  ['{{"abc}}', "1:3: unterminated text"],
  ['{{"abc\n"}}', "1:3: unterminated text"],
  ["{{`abc}}", "1:3: unterminated raw text"],
  ['{{"\\q"}}', '1:3: "\\q" is not a valid text'],
  ['{{"\\ud800"}}', '1:3: "\\ud800" is not a valid text'],
  ["{{'ab'}}", "1:3: 'ab' is not a valid character"],
  ["{{1a}}", '1:3: bad number "1a"'],
  ["{{0x1__0}}", '1:3: bad number "0x1__0"'],
  ["{{1_}}", '1:3: bad number "1_"'],
  ["{{0x}}", '1:3: bad number "0x"'],
  ["{{089}}", '1:3: bad number "089"'],
  ["{{9007199254740993}}", '1:3: bad number "9007199254740993"'],
  ["{{-}}", '1:3: bad number "-"'],
  ["{{1e999}}", '1:3: bad number "1e999"'],
  ["{{.run-tests}}", '1:7: unexpected "-"', 'index . "the-name"'],
  ["{{.name!}}", '1:8: unexpected "!"'],
  ["{{#}}", '1:3: unexpected "#"'],
  ["{{.name .list}}", "1:9: .name is not a function and takes no arguments"],
  ['{{"a" "b"}}', '1:7: "a" is not a function and takes no arguments'],
  ["{{3 | 4}}", '1:7: only a function can follow "|"'],
  ["{{.name | .list}}", '1:11: only a function can follow "|"'],
  ["{{.name | }}", '1:11: only a function can follow "|"'],
  ["{{| print}}", '1:3: unexpected "|"'],
  ["{{nil}}", "1:3: nil is not a value of its own"],
  ["{{uper .name}}", '1:3: unknown function "uper"', "did you mean 'upper'?"],
  ["{{bead.title}}", '1:3: unknown function "bead"', "{{.bead.title}}"],
  ["{{if nott .yes}}x{{end}}", '1:6: unknown function "nott"', "did you mean 'not'?"],
  ["{{call .name}}", '1:3: unknown function "call"'],
  ["{{not}}", '1:3: "not" takes 1 argument, not 0', "not A"],
  ["{{eq 1}}", '1:3: "eq" takes at least 2 arguments, not 1'],
  ["{{.name | upper .name}}", '1:11: "upper" takes 1 argument, not 2'],
  ["{{slice .list 1 2 3}}", '1:3: "slice" takes 1 to 3 arguments, not 4'],
  ["{{if not eq 1 2}}x{{end}}", '1:10: "eq" cannot be an argument', "(eq …)"],
  ['{{print "a""b"}}', '1:12: unexpected "\\"b\\""', "separated by spaces"],
  ["{{(print 1}}", '1:3: "(" is never closed'],
  ["{{print 1)}}", '1:10: unexpected ")"'],
  ["{{()}}", '1:4: missing value for "("'],
  ['{{"a".b}}', '1:6: unexpected ".b"'],
  ["{{..a}}", '1:4: unexpected ".a"'],
  ["{{$x}}", '1:3: undefined variable "$x"', "{{$name := value}}"],
  ["{{$abc := 1}}{{$abd}}", '1:16: undefined variable "$abd"', "did you mean '$abc'?"],
  ["{{if .yes}}{{$x := 1}}{{end}}{{$x}}", '1:32: undefined variable "$x"'],
  ["{{$x := $x}}", '1:9: undefined variable "$x"'],
  ["{{$x = 1}}", '1:3: undefined variable "$x"'],
  ["{{$ := 1}}", '1:3: "$" cannot be changed'],
  ["{{$x, $y := .list}}", '1:5: unexpected ","'],
  ["{{range $x, 3 := .list}}{{end}}", "1:13: expected a second variable"],
  ["{{range $x, $y .list}}{{end}}", '1:16: expected ":="'],
  ["{{break}}", '1:3: "break" outside of a range'],
  ["{{range .list}}x{{else}}{{continue}}{{end}}", '1:27: "continue" outside of a range'],
  ["{{with .yes}}{{else if .yes}}{{end}}", '1:21: unexpected "if"'],
  ["{{if .yes}}{{end x}}", '1:18: unexpected "x"'],
  ['{{define "x"}}{{end}}', '1:3: "define" is not supported', "include"],
  ['{{template "x"}}', '1:3: "template" is not supported'],
  ['{{block "x" .}}{{end}}', '1:3: "block" is not supported'],
  ["{{{{.name}}}}", '1:3: unexpected "{{"'],
  ['{{include}}', "1:10: include needs the name of a partial in quotes"],
  ["{{include .name}}", "1:11: include needs the name of a partial in quotes"],
  ['{{include "a.md" .}}', '1:18: unexpected "."', "key=value"],
  ['{{include "a.md" x=1 x=2}}', '1:22: "x" is given twice'],
  ['{{include "a.md" x="1"y="2"}}', '1:23: unexpected "y"', "key=value"],
  ['{{include "a.md" x={{.name}}{{.name}}}}', '1:29: unexpected "{{"', "key=value"],
  ['{{include "a.md" x={{.name}}', "1:1: unclosed action"],
  ['{{include "a.md" x=value}}', '1:20: unexpected "value"', "in quotes"],
  ['{{.name | include "a.md"}}', "1:11: include takes no piped value"],
];

const WHILE_RENDERING: readonly (readonly [string, string, string?])[] = [
  ["{{.nam}}", '1:3: unknown name ".nam"', "did you mean 'name'?"],
  ["line\n  {{if .typo}}x{{end}}", '2:8: unknown name ".typo"', "one of: name, list"],
  ["{{range .list}}{{$.typo}}{{end}}", '1:19: unknown name ".typo"'],
  ["{{.name.x}}", "1:8: .x: a text has no fields"],
  ["{{.list.x}}", "1:8: .x: a list has no fields", "range"],
  ["{{.n.x.y}}", "1:5: .x: a number has no fields"],
  ['{{eq 1 "a"}}', "1:3: incompatible types for comparison: a number and a text"],
  ["{{eq .yes 1}}", "1:3: incompatible types for comparison: a boolean and a number"],
  ["{{eq .list .list}}", "1:3: a list cannot be compared", "len"],
  ["{{eq 1 .map}}", "1:3: a map cannot be compared"],
  ["{{lt true false}}", "1:3: a boolean has no order"],
  ["{{lt 1 nil}}", "1:3: nothing has no order"],
  ['{{lt 1 "a"}}', "1:3: incompatible types for comparison"],
  ["{{len 3}}", "1:3: a number has no length"],
  ["{{len nil}}", "1:3: nothing has no length"],
  ["{{index .list 1}}", "1:3: position 1 is out of range", "0 to 0"],
  ["{{index .list -1}}", "1:3: position -1 is out of range"],
  ['{{index .list "a"}}', "1:3: a position is a whole number, not a text"],
  ["{{index .list 0.5}}", "1:3: a position is a whole number, not a number"],
  ["{{index .map 1}}", "1:3: a map is indexed by text, not by a number"],
  ["{{index nil 1}}", "1:3: nothing cannot be indexed"],
  ["{{slice .list 2}}", "1:3: position 2 is out of range"],
  ["{{slice .list 1 0}}", "1:3: a slice cannot go from 1 to 0"],
  ["{{slice .list .map.missing}}", "1:3: a position is a whole number, not nothing"],
  ["{{slice 3 1}}", "1:3: a number cannot be sliced"],
  ["{{range .name}}x{{end}}", "1:9: range cannot go over a text"],
  ["{{range .half}}x{{end}}", "1:9: range cannot go over a number"],
  ["{{range .yes}}x{{end}}", "1:9: range cannot go over a boolean"],
  ["{{range $i, $v := 3}}x{{end}}", "1:3: a range over a number gives only one variable"],
  ["{{join 1 2}}", "1:3: join needs a text and a list"],
  ["{{printf 1}}", "1:3: printf needs a text first"],
  ['{{printf "%*d" 1 2}}', '1:3: printf does not support "%*"'],
  ['{{printf "%99999d" 1}}', "1:3: printf pads to at most"],
  ['{{indent -1 "x"}}', "1:3: position -1 is out of range"],
  ['{{include "gone.md"}}', '1:3: no partial "gone.md"'],
];

describe("template errors have a place, a reason and a hint", () => {
  it.each([...WHILE_PARSING, ...WHILE_RENDERING].map(([template, message, hint = ""]) => ({ template, message, hint })))("$template is $message", ({ template, message, hint }) => {
    const error = failure(template);
    expect(error.message.slice(0, `review.md:${message}`.length)).toBe(`review.md:${message}`);
    expect(error.hint ?? "").toContain(hint);
    expect(error).toMatchObject({ code: "invalid_template", exitCode: 3, template: "review.md" });
  });

  it.each(WHILE_PARSING.map(([template]) => template))("%j is found without any data", (template) => {
    expect(() => parseTemplate(template, "x.md")).toThrow(TemplateError);
  });

  it.each(WHILE_RENDERING.map(([template]) => template))("%j parses", (template) => {
    expect(() => parseTemplate(template, "x.md")).not.toThrow();
  });

  it("lets unknown top-level names be nil when it is not strict", () => {
    expect(render(parseTemplate("[{{.typo}}]{{if .typo.more}}x{{end}}", "t"), data, { strict: false })).toBe("[]");
  });
});
