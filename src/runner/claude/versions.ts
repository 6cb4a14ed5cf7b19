/** Versions whose protocol the tests have seen. */
const OLDEST = [2, 1, 197];
const NEWEST = [2, 1, 325];

/** What to tell the user about a version; undefined when it was tested. */
export function versionWarning(version: string | undefined): string | undefined {
  if (version === undefined) return "claude does not say its version; this Crucible was tested with 2.1.197 to 2.1.325";
  const parts = version.split(/[.+-]/).slice(0, 3).map(Number);
  if (compare(parts, OLDEST) >= 0 && compare(parts, NEWEST) <= 0) return undefined;
  return `claude ${version} was not tested with this Crucible (2.1.197 to 2.1.325 were)`;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < 3; i++) if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) - (b[i] ?? 0);
  return 0;
}
