// Copies the files that need no building, and the licenses of the libraries that app.js contains.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";

for (const name of ["index.html", "icon.svg"]) copyFileSync(`src/${name}`, `dist/${name}`);
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const also = { cytoscape: "\n" + readFileSync("notices.txt", "utf8") };
writeFileSync("dist/licenses.txt", Object.keys(dependencies).sort().map((name) =>
  `${name} ${dependencies[name]}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n` +
  (also[name] ?? "")).join("\n\n"));
