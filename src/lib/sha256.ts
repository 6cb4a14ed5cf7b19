/** Sha-256 in hex. `node:crypto` costs a tenth of a start, so it is loaded by the first call and not by an import. */
export function sha256(content: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", content);
}

/** For names of temporary files. */
export function randomName(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(8).toString("hex");
}
