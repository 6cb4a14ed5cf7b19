import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSession, listSessions } from "../../src/session/list-sessions.ts";
import { readSession } from "../../src/session/read-session.ts";
import { open, sessionDeps, testClock, testPaths } from "../support/session.ts";

function emptySessions(count: number, name: (n: number) => string): ReturnType<typeof testPaths> {
  const paths = testPaths();
  mkdirSync(paths.project.sessions, { recursive: true });
  for (let n = 0; n < count; n++) mkdirSync(join(paths.project.sessions, name(n)));
  return paths;
}

const reader = (): { read: typeof readSession; folders: string[] } => {
  const folders: string[] = [];
  return { folders, read: async (folder) => (folders.push(folder), { session: undefined, problems: [] }) };
};

describe("listSessions", () => {
  it("of 10,000 sessions reads the newest 50 and no other", async () => {
    const day = (n: number): string => new Date(Date.UTC(2020, 0, 1) + n * 86_400_000).toISOString().slice(0, 10);
    const paths = emptySessions(10_000, (n) => `${day(Math.floor(n / 10))}-s${n}`);
    const deps = reader();
    const { more } = await listSessions(paths, {}, deps);
    expect(deps.folders).toHaveLength(50);
    expect(more).toBe(9950);
    expect(deps.folders.every((folder) => folder >= join(paths.project.sessions, day(995)))).toBe(true);
  });

  it("of a day with more than it shows, takes the folders that were made last", async () => {
    const paths = emptySessions(0, () => "");
    for (const name of ["2026-01-01-z", "2026-01-01-a", "2026-01-01-m"]) {
      mkdirSync(join(paths.project.sessions, name));
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    const deps = reader();
    await listSessions(paths, { limit: 2 }, deps);
    expect(deps.folders.map((f) => f.slice(-1)).sort()).toEqual(["a", "m"]);
  });

  it("shows the newest first, and what cannot be read as a problem", async () => {
    const clock = testClock();
    const deps = sessionDeps({ clock });
    for (const request of ["zebra", "ant", "mouse"]) {
      (await open(deps, { request })).finish("completed");
      clock.advance(1000);
    }
    const root = deps.paths.project.sessions;
    mkdirSync(join(root, "2026-11-17-empty"));
    mkdirSync(join(root, "2026-11-17-garbage"));
    writeFileSync(join(root, "2026-11-17-garbage", "metadata.json"), Buffer.alloc(300));
    mkdirSync(join(root, "2026-11-17-folder", "metadata.json"), { recursive: true });
    mkdirSync(join(root, "notes"));
    writeFileSync(join(root, "2026-11-18-a-file"), "x");
    symlinkSync("/", join(root, "2026-11-19-link"));
    mkdirSync(join(root, "2026-11-17-linked"));
    symlinkSync(join(root, "2026-11-16-zebra", "metadata.json"), join(root, "2026-11-17-linked", "metadata.json"));
    utimesSync(root, 0, 0);
    const { sessions, problems } = await listSessions(deps.paths);
    expect(sessions.map((s) => s.id)).toEqual(["2026-11-16-mouse", "2026-11-16-ant", "2026-11-16-zebra"]);
    expect(problems.map((p) => p.path.split("/").at(-2)).sort()).toEqual(["2026-11-17-empty", "2026-11-17-folder", "2026-11-17-garbage", "2026-11-17-linked"]);
    expect((await listSessions(testPaths())).sessions).toEqual([]);
  });
});

describe("findSession", () => {
  it("takes an id or its unique start; else says what is near", () => {
    const paths = emptySessions(3, (n) => `2026-01-0${n + 1}-fix-tests`);
    expect(findSession(paths, "2026-01-02-fix-tests")).toBe("2026-01-02-fix-tests");
    expect(findSession(paths, "2026-01-03")).toBe("2026-01-03-fix-tests");
    expect(() => findSession(paths, "2026-01-0")).toThrow("is the start of 3 sessions");
    expect(() => findSession(paths, "../../etc")).toThrow("there is no session");
    expect(() => findSession(paths, "")).toThrow("there is no session");
    expect(() => findSession(paths, "2026-01-02-fix-test5")).toThrow(expect.objectContaining({ code: "not_found", hint: "did you mean '2026-01-02-fix-tests'?" }));
  });
});
