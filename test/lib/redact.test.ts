import { describe, expect, it } from "vitest";
import { createRedactor, createStreamRedactor, REDACTED } from "../../src/lib/redact.ts";

const CANARY = "canary-Zx81+/q==";
const env = {
  MY_SERVICE_TOKEN: CANARY,
  DB_PASSWORD: "correct horse battery",
  SHORT_KEY: "abc",
  HOME: "/home/somebody",
  SSL_KEY_FILE: "/etc/ssl/private.pem",
};
const redactor = createRedactor(env);
const letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

describe("redact", () => {
  it.each([
    ["a value of the environment", `token=${CANARY};`, `token=${REDACTED};`],
    ["its URL form", `?t=${encodeURIComponent(CANARY)}&`, `?t=${REDACTED}&`],
    ["its base64 form", Buffer.from(CANARY).toString("base64"), REDACTED],
    ["a password with blanks", "pw: correct horse battery!", `pw: ${REDACTED}!`],
    ["an Anthropic key", `sk-ant-api03-${letters}`, REDACTED],
    ["a GitHub token", `ghp_${letters}`, REDACTED],
    ["an AWS key id", "AKIAABCDEFGHIJKLMNOP", REDACTED],
    ["a bearer header", `Authorization: Bearer ${letters}`, `Authorization: Bearer ${REDACTED}`],
    ["a URL with a password", "https://user:hunter2@example.org/x", `https://user:${REDACTED}@example.org/x`],
    ["a URL with a token", `https://${letters}@example.org/x`, `https://${REDACTED}@example.org/x`],
    ["a private key", `x -----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY----- y`, `x ${REDACTED} y`],
    ["a private key that is cut off", `x -----BEGIN PRIVATE KEY-----\n${letters}`, `x ${REDACTED}`],
  ])("takes out %s", (_, text, clean) => {
    expect(redactor.text(text)).toBe(clean);
  });

  it.each(["abc is short", "/home/somebody", "/etc/ssl/private.pem", "https://example.org/a:b@c", "risk-averse sk-short", "basically fine", "mask-token"])("leaves %j alone", (text) => {
    expect(redactor.text(text)).toBe(text);
  });

  it("goes through values, keys included, and leaves everything else as it is", () => {
    const value = { a: [1, null, true, { b: `x ${CANARY}` }], [CANARY]: 1, headers: { "x-api-key": "anything-at-all" } };
    expect(redactor.value(value)).toEqual({ a: [1, null, true, { b: `x ${REDACTED}` }], [REDACTED]: 1, headers: { "x-api-key": REDACTED } });
    expect(JSON.parse(JSON.stringify(redactor.value(JSON.parse('{"__proto__":{"x":1}}'))))).toEqual(JSON.parse('{"__proto__":{"x":1}}'));
  });

  it("finds a secret that a stream cuts anywhere, and loses no other text", () => {
    const secrets = [CANARY, "correct horse battery", `sk-ant-api03-${letters}`, `Bearer ${letters}`, `bearer \t\n ${letters}`, `Basic\u00a0${letters}`, `-----BEGIN PRIVATE KEY-----\n${letters} ${letters}\n-----END PRIVATE KEY-----`];
    for (const secret of secrets) {
      const text = `before ${secret} after the end`;
      for (let cut = 1; cut < text.length; cut++) {
        const stream = createStreamRedactor(redactor);
        const written = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end();
        expect(written).toBe(redactor.text(text));
      }
    }
    const stream = createStreamRedactor(redactor);
    const pieces = [..."one two  three\nfour"].map((c) => stream.push(c));
    expect(pieces.join("") + stream.end()).toBe("one two  three\nfour");
  });
});
