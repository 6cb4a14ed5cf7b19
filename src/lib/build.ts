/** Which build of this program runs; `scripts/build.mjs` puts a digest of the sources here. */
export const BUILD: string = process.env.CRU_BUILD ?? "source";
