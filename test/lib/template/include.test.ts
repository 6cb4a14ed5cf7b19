import { describe, expect, it } from "vitest";
import { parseTemplate } from "../../../src/lib/template/parse-template.ts";
import { render } from "../../../src/lib/template/render.ts";
import { TemplateError } from "../../../src/lib/template/template-error.ts";

const data = { bead: { title: "Fix {{.name}}", labels: ["a", "b"] }, name: "outer", n: 7 };

function show(template: string, partials: Record<string, string>): string {
  return render(parseTemplate(template, "main.md"), data, {
    include: (name) => (Object.hasOwn(partials, name) ? { name, text: partials[name] ?? "" } : undefined),
    partials: () => Object.keys(partials),
  });
}

function failure(template: string, partials: Record<string, string> = {}): TemplateError {
  try {
    show(template, partials);
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error("no error");
}

describe("include", () => {
  it("[ORC-11.1.1] [ORC-11.1.2] renders a partial with a literal value", () => {
    expect(show('<{{include "partial.md" name="value"}}>', { "partial.md": "I am {{.name}}" })).toBe("<I am value>");
  });

  it("[ORC-11.2.1] [ORC-11.2.2] resolves a context value in nested delimiters first and passes the result, which is never read as a template", () => {
    expect(show('{{include "partial.md" title={{.bead.title}}}}', { "partial.md": "Title: {{.title}}" })).toBe("Title: Fix {{.name}}");
    expect(show('{{ include "p.md" title={{ .bead.title | upper }} n={{.n}} }}', { "p.md": "{{.title}}/{{.n}}" })).toBe("FIX {{.NAME}}/7");
  });

  it.each([
    ['{{include "p.md" x="a \\"b\\" }}"}}', 'a "b" }}'],
    ["{{include `p.md` x=`raw`}}", "raw"],
    ['{{include "p.md" x=3}}', "3"],
    ['{{include "p.md" x=-1.5}}', "-1.5"],
    ['{{include "p.md" x=true}}', "true"],
    ['{{include "p.md" x=nil}}', ""],
    ['{{include "p.md" x=.bead.labels}}', '["a","b"]'],
    ['{{include "p.md" x=$.name}}', "outer"],
    ['{{$v := "var"}}{{include "p.md" x=$v}}', "var"],
    ['{{include "p.md" x=(len .bead.labels)}}', "2"],
    ['{{include "p.md" x = "spaced"}}', "spaced"],
    ['{{range .bead.labels}}{{include "p.md" x=.}}{{end}}', "ab"],
    ['{{with .bead}}{{include "p.md" x={{.title}}}}{{end}}', "Fix {{.name}}"],
    ['a {{- include "p.md" x=1 -}} b', "a1b"],
    ['{{include "p.md" x="one\\ntwo" | indent 2}}', "  one\n  two"],
    ['{{$x := include "p.md" x=1}}{{$x}}{{$x}}', "11"],
    ['{{if include "p.md" x=""}}T{{else}}F{{end}}', "F"],
    ['{{print (include "p.md" x=1) "!"}}', "1!"],
  ])("%s passes its value", (template, expected) => {
    expect(show(template, { "p.md": "{{.x}}" })).toBe(expected);
  });

  it("shows a partial nothing but what it is given", () => {
    const error = failure('{{include "p.md" title="t"}}', { "p.md": "{{.title}}\n  {{.name}}" });
    expect(error.message).toBe('p.md:2:5: unknown name ".name" (included from main.md)');
    expect(failure('{{include "p.md"}}', { "p.md": "{{$.bead}}" }).hint).toContain("only what the include passes");
    expect(failure('{{$v := 1}}{{include "p.md"}}', { "p.md": "{{$v}}" }).message).toBe('p.md:1:3: undefined variable "$v"');
  });

  it("lets a partial have optional values", () => {
    const partials = { "p.md": '{{default "nobody" .who}}{{if default false .loud}}!{{end}}' };
    expect(show('{{include "p.md"}} {{include "p.md" who="you" loud=true}}', partials)).toBe("nobody you!");
  });

  it("finds partials in folders below", () => {
    expect(show('{{include "shared/rules.md"}}', { "shared/rules.md": "rules" })).toBe("rules");
  });

  it("[ORC-11.4.1] allows five levels of partials and refuses a sixth", () => {
    const chain = (levels: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: levels }, (_, i) => [`p${i + 1}.md`, i + 1 === levels ? "end" : `${i + 1}{{include "p${i + 2}.md"}}`]));
    expect(show('{{include "p1.md"}}', chain(5))).toBe("1234end");
    const error = failure('{{include "p1.md"}}', chain(6));
    expect(error).toMatchObject({ fault: "include.depth", template: "p5.md", line: 1, column: 4 });
    expect(error.message).toBe("p5.md:1:4: includes may be nested at most 5 deep: main.md → p1.md → p2.md → p3.md → p4.md → p5.md → p6.md");
  });

  it.each([
    ["itself", '{{include "main.md"}}', {}, "main.md:1:3: circular include: main.md → main.md"],
    ["a pair", '{{include "a.md"}}', { "a.md": 'x{{include "b.md"}}', "b.md": '\n{{include "a.md"}}' }, "b.md:2:3: circular include: a.md → b.md → a.md"],
    ["the way back to the start", '{{include "a.md"}}', { "a.md": '{{include "main.md"}}' }, "a.md:1:3: circular include: main.md → a.md → main.md"],
  ])("[ORC-11.4.2] rejects a cycle through %s and names it", (_, template, partials, message) => {
    const error = failure(template, { "main.md": template, ...partials });
    expect(error.message).toBe(message);
    expect(error.fault).toBe("include.cycle");
  });

  it("the same partial twice is no cycle", () => {
    expect(show('{{include "a.md"}}{{include "a.md"}}', { "a.md": '{{include "b.md"}}', "b.md": "b" })).toBe("bb");
  });

  it("[ORC-11.3.3] says where a partial is missing and what was meant", () => {
    const error = failure('one\ntwo {{include "ruls.md"}}', { "rules.md": "" });
    expect(error.message).toBe('main.md:2:7: no partial "ruls.md"');
    expect(error.hint).toBe("did you mean 'rules.md'?");
    expect(error.fault).toBe("include.not_found");
  });

  it.each([
    "/etc/passwd.md", "/etc/passwd", "../secret.md", "../../secret.md", "a/../../b.md", "a/../b.md", "..\\\\x.md", "C:/x.md", "c:x.md", "a\\u0000.md", "a", "a.txt",
    "", ".md", ".hidden.md", "a//b.md", "./a.md", "a/./b.md", "a\\nb.md", "~/x.md", "-rf.md", "a?.md", "a%2e.md", `${"x".repeat(300)}.md`, "file:///x.md", "e\u0301.md",
  ])("refuses the name %j while parsing, reached or not", (name) => {
    const error = failure(`{{if false}}{{include "${name}"}}{{end}}`);
    expect(error).toMatchObject({ fault: "include.outside", line: 1, column: 23 });
  });

  it("never asks the loader for a name that is not written in the template", () => {
    const asked: string[] = [];
    render(parseTemplate('{{include "a.md" x="{{include \\"b.md\\"}}"}}', "m.md"), {}, {
      include: (name) => {
        asked.push(name);
        return { name, text: "{{.x}}" };
      },
    });
    expect(asked).toEqual(["a.md"]);
  });

  it("loads and parses a partial once", () => {
    let loads = 0;
    const out = render(parseTemplate('{{range 50}}{{include "a.md" i=.}},{{end}}', "m.md"), {}, { include: (name) => ({ name, text: `${++loads}:{{.i}}` }) });
    expect(out.startsWith("1:0,1:1,1:2,")).toBe(true);
    expect(loads).toBe(1);
  });

  it("passes a value called __proto__ as any other", () => {
    expect(show('{{include "p.md" __proto__="x" constructor="y"}}', { "p.md": "{{.__proto__}}{{.constructor}}" })).toBe("xy");
    expect(failure('{{include "p.md" a=1}}', { "p.md": "{{.constructor}}" }).reason).toContain("unknown name");
  });

  it("lists every include of a template, reached or not", () => {
    const template = parseTemplate('{{if false}}{{include "a.md"}}{{end}}\n{{print (include "b.md")}}', "m.md");
    expect(template.includes).toEqual([{ name: "a.md", at: 14 }, { name: "b.md", at: 47 }]);
  });
});
