export const json = { flags: "--json", summary: "print JSON" } as const;
