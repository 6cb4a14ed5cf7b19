import { sep } from "node:path";

/** A path as people are shown it: relative inside the project, with `~` inside the home folder. */
export function shownPath(path: string, places: { root: string; home: string }): string {
  if (isBelow(path, places.root)) return path.slice(places.root.length + 1);
  return isBelow(path, places.home) ? `~${path.slice(places.home.length)}` : path;
}

function isBelow(path: string, folder: string): boolean {
  return path[folder.length] === sep && path.startsWith(folder);
}
