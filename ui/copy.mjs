// Copies the files that are not built, and the licenses of the libraries in app.js.
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";

for (const name of ["index.html", "icon.svg"]) copyFileSync(`src/${name}`, `dist/${name}`);
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const also = { cytoscape: "\n" + readFileSync("notices.txt", "utf8") };
writeFileSync("dist/licenses.txt", Object.keys(dependencies).sort().map((name) =>
  `${name} ${dependencies[name]}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n` +
  (also[name] ?? "")).join("\n\n"));
