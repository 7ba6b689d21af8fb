// Copies the files that need no building.
import { copyFileSync } from "node:fs";

for (const name of ["index.html", "icon.svg"]) copyFileSync(`src/${name}`, `dist/${name}`);
