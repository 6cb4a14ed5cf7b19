// node scripts/with-setup.mjs FILE [ARGS…]: sets up, then runs FILE.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, setUp } from "./setup.mjs";

const [, , file, ...args] = process.argv;
setUp();
process.argv = [process.argv[0], join(root, file), ...args];
await import(pathToFileURL(join(root, file)).href);
