import { describe, expect, it } from "vitest";
import { hostText, parseHostEntry, parseHostTarget, ruleAllows } from "../../src/contract/host-entry.ts";

const allows = (entry: string, target: string): boolean => {
  const parsed = parseHostEntry(entry);
  const wanted = parseHostTarget(target);
  return parsed.ok && wanted !== undefined && ruleAllows(parsed.rule, wanted);
};

describe("parseHostEntry", () => {
  it.each([
    ["example.org", ["example.org:443", "example.org:80", "EXAMPLE.org.:443"], ["example.org:8443", "a.example.org:443", "notexample.org:443", "example.org.evil.net:443"]],
    ["example.org:8443", ["example.org:8443"], ["example.org:443"]],
    ["*.example.org", ["a.example.org:443", "a.b.example.org:80"], ["example.org:443", "xexample.org:443", "a.example.org:22", "a.example.org.evil.net:443"]],
    ["bücher.example", ["xn--bcher-kva.example:443", "BÜCHER.example:443"], ["bucher.example:443"]],
    ["10.0.0.3:5000", ["10.0.0.3:5000"], ["10.0.0.3:443", "010.0.0.3:5000", "167772163:5000", "[::ffff:10.0.0.3]:5000"]],
    ["[2001:DB8::1]", ["[2001:db8:0:0::1]:443"], ["[2001:db8::2]:443"]],
    ["localhost:5432", ["localhost:5432", "127.0.0.1:5432", "[::1]:5432"], ["localhost:5433", "127.0.0.2:5432", "x.localhost:5432"]],
    ["127.0.0.1:5432", ["localhost:5432"], ["127.0.0.1:80"]],
  ])("%s is open to %j and not to %j", (entry, open, closed) => {
    expect(open.filter((target) => !allows(entry, target))).toEqual([]);
    expect(closed.filter((target) => allows(entry, target))).toEqual([]);
  });

  it.each([
    ["", "is no host name"], ["*", "opens too much"], ["*.com", "top-level"], ["a.*.org", "opens too much"], ["https://example.org", "write the host alone"], ["example.org/x", "write the host alone"],
    ["user@example.org", "write the host alone"], ["example.org:0", "a port is a number"], ["example.org:99999", "a port is a number"], ["::1", "in brackets"], ["[::1]", "which port"], ["localhost", "which port"],
    ["localhost:80", "1024"], ["x.localhost:8080", "localhost:port"], ["*.localhost:8080", "which port"], ["127.1", "no host name"], ["0x7f000001", "no host name"], ["2130706433", "no host name"],
    ["0.0.0.0:8080", "no address of a host"], ["[::]:8080", "no address of a host"], ["[fe80::1%eth0]", "no host name"], ["a..b", "no host name"], ["a b", "write the host alone"], ["*.10.0.0.1", "is no domain"],
  ])("%j is refused: %s", (entry, why) => {
    expect(parseHostEntry(entry)).toMatchObject({ ok: false, message: expect.stringContaining(why) });
  });

  it.each(["", "example.org", "example.org:", ":443", "a:b:1", "example.org:443x", "[::1", "example.org:443 ", "a\0b:443", "127.1:443", "*.example.org:443", "exa%6dple.org:443"])("%j is no target", (text) => {
    expect(parseHostTarget(text)).toBeUndefined();
  });

  it("is written back as a person would write it", () => {
    expect([hostText({ host: "a.example", port: 443 }), hostText({ host: "::2", port: 80 }), hostText({ host: "a.example", port: 22 }), hostText({ host: "localhost", port: 443 })]).toEqual(["a.example", "[::2]", "a.example:22", "localhost:443"]);
  });
});
