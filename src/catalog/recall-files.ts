import { lstatSync, type Stats, statfsSync, statSync } from "node:fs";
import { type FolderIndex, type IndexRecord, SIGNATURE } from "./index-file.ts";
import type { FoundFile, ScannedFolder } from "./scan-folder.ts";

/**
 * Which files of a folder are still what the index says, without reading them.
 *
 * The kernel sets a file's ctime at every change of its bytes, name or links, and no program can set it. So a file is unchanged
 * when device, inode, size, mtime and ctime are, if the ctime was already old when the file was read: a change after that has
 * a later one. What was read too soon after its last change, lies in the future, is a symlink or stands on a file system that
 * may not keep the rule (network, FUSE, FAT, any on a system other than Linux) has no signature and is read every time.
 */
export type Recall<T> = {
  /** The record of this file if it is unchanged. Files must be asked for in order. */
  unchanged(file: FoundFile): IndexRecord<T> | undefined;
  /** Takes in a file that was read; `stat` is how it looked before that. */
  remember(file: FoundFile, read: { record: IndexRecord<T>; stat: Stats | undefined }): void;
  /** What to write; `better` when it spares reading that the last one did not. */
  readonly index: FolderIndex<T>;
  readonly better: boolean;
};

export function recallFiles<T>(folder: ScannedFolder, place: { folder: string; dialect: string }, known: readonly FolderIndex<T>[], now: number): Recall<T> {
  const before = known.find((f) => f.folder === place.folder && f.dialect === place.dialect);
  const device = folder.files.length > 0 ? deviceThatKeepsTime(folder.via) : undefined;
  const keys: string[] = [];
  const records: IndexRecord<T>[] = [];
  const signatures = new Float64Array(folder.files.length * SIGNATURE);
  const recallable = device !== undefined && before?.device === device ? before : undefined;
  const add = (file: FoundFile, record: IndexRecord<T>, stat: Stats | undefined): void => {
    const i = keys.push(file.key) - 1;
    records.push(record);
    if (stat !== undefined) sign(signatures, i * SIGNATURE, stat);
  };
  let at = 0;
  let better = false;
  return {
    unchanged(file) {
      if (recallable === undefined) return undefined;
      while ((recallable.keys[at] ?? file.key) < file.key) at++;
      if (recallable.keys[at] !== file.key || recallable.signatures[at * SIGNATURE] === UNSIGNED) return undefined;
      // The short path is enough: should the folder have been swapped, what stands there is not the same inode.
      const stat = statOf(file.path);
      const record = stat !== undefined && stat.dev === device && isSame(stat, recallable.signatures, at * SIGNATURE) ? recallable.records[at] : undefined;
      if (record !== undefined) add(file, record, stat);
      return record;
    },
    remember(file, { record, stat }) {
      const settled = stat !== undefined && stat.dev === device && now - stat.ctimeMs >= SETTLED_MS;
      better ||= settled;
      add(file, record, settled ? stat : undefined);
    },
    get index() {
      return { folder: place.folder, dialect: place.dialect, device: device ?? UNSIGNED, keys, signatures: signatures.subarray(0, keys.length * SIGNATURE), records };
    },
    get better() {
      return better;
    },
  };
}

/** No file has this inode. */
const UNSIGNED = 0;

function sign(signatures: Float64Array, at: number, stat: Stats): void {
  signatures[at] = stat.ino;
  signatures[at + 1] = stat.size;
  signatures[at + 2] = stat.mtimeMs;
  signatures[at + 3] = stat.ctimeMs;
}

function isSame(stat: Stats, signatures: Float64Array, at: number): boolean {
  return stat.ctimeMs === signatures[at + 3] && stat.mtimeMs === signatures[at + 2] && stat.size === signatures[at + 1] && stat.ino === signatures[at];
}

/** Far more than a tick of any clock that a file system here has. */
const SETTLED_MS = 2000;

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, NO_THROW);
  } catch {
    return undefined;
  }
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** ext2-4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs. */
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e]);

function deviceThatKeepsTime(folder: string): number | undefined {
  try {
    return process.platform === "linux" && LOCAL.has(statfsSync(folder).type) ? statSync(folder).dev : undefined;
  } catch {
    return undefined;
  }
}
