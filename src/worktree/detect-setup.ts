export type SetupCommand = {
  /** What it is found by. */
  lockfile: string;
  command: readonly string[];
  /** The same from what is on this machine only; undefined when the tool has no such way. */
  offline: readonly string[] | undefined;
};

/** Of one kind of project the first lockfile that is there decides. */
const KINDS: readonly (readonly SetupCommand[])[] = [
  [
    { lockfile: "pnpm-lock.yaml", command: ["pnpm", "install", "--frozen-lockfile"], offline: ["pnpm", "install", "--frozen-lockfile", "--offline"] },
    { lockfile: "yarn.lock", command: ["yarn", "install", "--immutable"], offline: undefined },
    { lockfile: "npm-shrinkwrap.json", command: ["npm", "ci", "--no-audit", "--no-fund"], offline: ["npm", "ci", "--no-audit", "--no-fund", "--offline"] },
    { lockfile: "package-lock.json", command: ["npm", "ci", "--no-audit", "--no-fund"], offline: ["npm", "ci", "--no-audit", "--no-fund", "--offline"] },
  ],
  [
    { lockfile: "uv.lock", command: ["uv", "sync", "--frozen"], offline: ["uv", "sync", "--frozen", "--offline"] },
    { lockfile: "requirements.txt", command: ["sh", "-c", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"], offline: undefined },
  ],
  [{ lockfile: "Cargo.lock", command: ["cargo", "fetch", "--locked"], offline: ["cargo", "fetch", "--locked", "--offline"] }],
];

/** What `setup: auto` means for a folder with these files at its top. */
export function detectSetup(files: ReadonlySet<string>): SetupCommand[] {
  return KINDS.flatMap((kind) => kind.find(({ lockfile }) => files.has(lockfile)) ?? []);
}
