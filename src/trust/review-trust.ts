import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { alone } from "./alone.ts";
import { forgetManifest, readBlob, readManifest, writeManifest } from "./manifest.ts";
import { type Scan, scanProject } from "./scan.ts";

export type ReviewedFile = {
  /** Relative to the project. */
  path: string;
  status: "new" | "changed" | "removed" | "trusted" | "refused";
  /** Of what is there now; of what was trusted for a removed file; null for one that cannot be trusted. */
  sha256: string | null;
  /** What is there now. */
  content?: Uint8Array;
  /** What was trusted, as far as it is still known. */
  before?: Uint8Array;
  /** Why it is refused. */
  reason?: string;
};

export type TrustReview = { root: string; trusted: boolean; trustedAt: string | undefined; files: ReviewedFile[] };

/** What a person has to look at before this project's own definitions and settings are used. */
export function reviewTrust(paths: Paths): TrustReview {
  const manifest = readManifest(paths);
  const scan = scanProject(paths);
  const files: ReviewedFile[] = scan.files.map(({ name, sha256, content }) => {
    const hash = manifest?.files.get(name);
    if (hash === sha256) return { path: name, status: "trusted", sha256, content };
    const before = hash === undefined ? undefined : readBlob(paths, hash);
    return { path: name, status: hash === undefined ? "new" : "changed", sha256, content, ...(before === undefined ? {} : { before }) };
  });
  const present = new Set(scan.files.map((file) => file.name));
  for (const [path, sha256] of manifest?.files ?? []) if (!present.has(path)) files.push({ path, status: "removed", sha256 });
  for (const { name, reason } of scan.refused) files.push({ path: name, status: "refused", sha256: null, reason });
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { root: paths.root, trusted: files.every(({ status }) => status === "trusted" || status === "refused"), trustedAt: manifest?.trustedAt, files };
}

/** Trusts exactly the bytes of the review. When the project has changed since, nothing is trusted. */
export function acceptReview(paths: Paths, review: TrustReview): Promise<void> {
  const shown = review.files.filter((file) => file.content !== undefined);
  return alone(paths, () => {
    if (fingerprint(scanProject(paths)) !== fingerprint(asScan(review))) {
      throw new CruError("untrusted", "the project changed while it was shown; nothing was trusted", { hint: "look again with `cru trust`" });
    }
    writeManifest(paths, new Map(shown.map((file) => [file.path, file.sha256 ?? ""])), shown.map((file) => file.content ?? new Uint8Array()));
  });
}

/** Forgets everything about this project; false when there was nothing. */
export async function revokeTrust(paths: Paths): Promise<boolean> {
  let known = false;
  await alone(paths, () => void (known = forgetManifest(paths)));
  return known;
}

type Shape = { files: readonly { name: string; sha256: string }[]; refused: Scan["refused"] };

function asScan(review: TrustReview): Shape {
  return {
    files: review.files.flatMap(({ path, sha256, content }) => (content === undefined || sha256 === null ? [] : [{ name: path, sha256 }])),
    refused: review.files.flatMap(({ path, status, reason }) => (status === "refused" ? [{ name: path, reason: reason ?? "" }] : [])),
  };
}

function fingerprint({ files, refused }: Shape): string {
  const byName = (a: string[], b: string[]): number => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1);
  return JSON.stringify([files.map(({ name, sha256 }) => [name, sha256]).sort(byName), refused.map(({ name, reason }) => [name, reason]).sort(byName)]);
}
