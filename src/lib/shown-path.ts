import { sep } from "node:path";

/** A path as people are shown it: relative inside the project, with `~` inside the home folder. */
export function shownPath(path: string, places: { root: string; home: string }): string {
  if (path.startsWith(places.root + sep)) return path.slice(places.root.length + 1);
  return path.startsWith(places.home + sep) ? `~${path.slice(places.home.length)}` : path;
}
