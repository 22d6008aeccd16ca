// Runs the hostile inputs of hostile.mjs in Node: attack.mjs FOLDER-OF-THE-PACKAGE
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { attack } from "./hostile.mjs";

const { Sessile } = await import(pathToFileURL(resolve(process.argv[2], "sessile.js")).href);
const { attempts, wrong, slowest } = await attack(Sessile);
wrong.forEach((line) => console.log(`FAIL ${line}`));
console.log(`${attempts - wrong.length} of ${attempts} hostile inputs end in a clear error; slowest ${slowest}`);
process.exit(wrong.length > 0 ? 1 : 0);
