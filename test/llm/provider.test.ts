import { describe, expect, it } from "vitest";
import { CruError } from "../../src/contract/error.ts";
import { configuredProviders, requireModel, requireProvider } from "../../src/llm/provider.ts";
import { createStreamModel } from "../../src/llm/stream-model.ts";
import { scripted } from "../support/scripted.ts";

const ANTHROPIC = { ANTHROPIC_API_KEY: "k" };
const LOCAL = { OPENAI_BASE_URL: "http://localhost:11434/v1" };

function errorOf(work: () => unknown): CruError {
  try {
    work();
  } catch (error) {
    if (error instanceof CruError) return error;
  }
  throw new Error("expected a CruError");
}

describe("model names", () => {
  it.each(["sonnet", "haiku", "opus", "claude-haiku-4-5", "claude-opus-5-5", "qwen3:8b", "local/llama", "gpt-5"])("%s is taken", (name) => {
    expect(requireModel(name)).toBe(name);
  });

  it.each([["sonet", "did you mean 'sonnet'"], ["gigantic", "haiku, sonnet, opus"], ["", "haiku, sonnet, opus"], ["a b-c", "haiku, sonnet, opus"]])("'%s' is refused with the list", (name, hint) => {
    const error = errorOf(() => requireModel(name));
    expect(error).toMatchObject({ code: "model_unknown", exitCode: 2 });
    expect(error.hint).toContain(hint);
    expect(error.hint).toContain("haiku, sonnet, opus");
  });
});

describe("the provider", () => {
  it.each([
    ["sonnet", ANTHROPIC, { kind: "anthropic", model: "claude-sonnet-5-5", baseUrl: "https://api.anthropic.com/v1", apiKey: "k" }],
    ["claude-haiku-4-5-20251001", { ...ANTHROPIC, ...LOCAL }, { kind: "anthropic", model: "claude-haiku-4-5-20251001" }],
    ["opus", { ...ANTHROPIC, ANTHROPIC_BASE_URL: "http://gate:1/" }, { baseUrl: "http://gate:1/v1" }],
    ["opus", { ...ANTHROPIC, ANTHROPIC_BASE_URL: "http://gate:1/v1/" }, { baseUrl: "http://gate:1/v1" }],
    ["opus", { ...ANTHROPIC, ANTHROPIC_BASE_URL: "http://gate:1/anthropic" }, { baseUrl: "http://gate:1/anthropic/v1" }],
    ["opus", { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_API_KEY: "" }, { authToken: "t", apiKey: undefined }],
    ["opus", { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" }, { authToken: "t", apiKey: undefined }],
    ["anthropic/glm-4.6", ANTHROPIC, { kind: "anthropic", model: "glm-4.6" }],
    ["qwen3:8b", { ...ANTHROPIC, ...LOCAL }, { kind: "openai", model: "qwen3:8b", baseUrl: "http://localhost:11434/v1", apiKey: undefined }],
    ["local/claude-like", LOCAL, { kind: "openai", model: "claude-like" }],
    ["local/llama", { OPENAI_BASE_URL: "http://localhost:11434" }, { baseUrl: "http://localhost:11434/v1" }],
    ["local/llama", { OPENAI_BASE_URL: "http://h/api/openai/" }, { baseUrl: "http://h/api/openai" }],
    ["openai/anthropic/claude-x", LOCAL, { kind: "openai", model: "anthropic/claude-x" }],
    ["gpt-5", { OPENAI_API_KEY: "o" }, { kind: "openai", baseUrl: "https://api.openai.com/v1", apiKey: "o" }],
  ])("of %s with %j", (model, env, wanted) => {
    expect(requireProvider(model, env)).toMatchObject(wanted);
  });

  it.each([
    ["sonnet", {}, "ANTHROPIC_API_KEY"],
    ["sonnet", { ANTHROPIC_API_KEY: "  " }, "ANTHROPIC_API_KEY"],
    ["sonnet", LOCAL, "--model local/"],
    ["qwen3:8b", ANTHROPIC, "OPENAI_BASE_URL"],
    ["local/x", {}, "OPENAI_BASE_URL"],
    ["sonnet", { ...ANTHROPIC, ANTHROPIC_BASE_URL: "user:secret@nowhere" }, "ANTHROPIC_BASE_URL"],
    ["local/x", { OPENAI_BASE_URL: "file:///etc/passwd" }, "OPENAI_BASE_URL"],
  ])("that is missing for %s with %j says what to set", (model, env, what) => {
    const error = errorOf(() => requireProvider(model, env));
    expect(error.code).toBe("provider_missing");
    expect(`${error.message} ${error.hint}`).toContain(what);
    expect(`${error.message} ${error.hint}`).not.toContain("secret");
  });

  it("are listed for doctor and for the choice of a runner", () => {
    expect(configuredProviders({})).toEqual([]);
    expect(configuredProviders({ ...ANTHROPIC, ...LOCAL })).toEqual(["anthropic", "openai"]);
  });

  it("a bearer token reaches the server as one, and a missing provider is the caller's mistake", async () => {
    const server = await scripted([{ text: "x" }]);
    const call = { model: "sonnet", system: "", messages: [{ role: "user" as const, content: "x" }], tools: [], toolChoice: "auto" as const, maxOutputTokens: 10, signal: new AbortController().signal };
    await createStreamModel({ env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_AUTH_TOKEN: "tok" } })(call, () => {});
    expect(server.requests[0]!.headers).toMatchObject({ authorization: "Bearer tok" });
    expect(server.requests[0]!.headers["x-api-key"]).toBeUndefined();
    await expect(createStreamModel({ env: {} })(call, () => {})).rejects.toThrow(CruError);
  });
});
