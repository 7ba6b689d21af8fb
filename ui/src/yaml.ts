// JSON values as YAML, for display.

const plain = /^[A-Za-z_/][\w./-]*( [\w./-]+)*$/, word = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

function scalar(v: unknown): string {
  if (typeof v === "string") return plain.test(v) && !word.test(v) ? v : JSON.stringify(v);
  return JSON.stringify(v) ?? "null";
}

/** yaml prints a value with each line indented. */
export function yaml(v: unknown, indent = ""): string {
  if (Array.isArray(v)) {
    return v.map((e) => {
      if (e === null || typeof e !== "object" || !Object.keys(e).length) return `${indent}- ${inline(e)}\n`;
      return `${indent}- ` + yaml(e, indent + "  ").slice(indent.length + 2);
    }).join("");
  }
  if (v !== null && typeof v === "object") {
    return Object.entries(v).map(([k, e]) => {
      if (e === null || typeof e !== "object" || !Object.keys(e).length) return `${indent}${scalar(k)}: ${inline(e)}\n`;
      return `${indent}${scalar(k)}:\n` + yaml(e, indent + (Array.isArray(e) ? "" : "  "));
    }).join("");
  }
  return indent + scalar(v) + "\n";
}

function inline(v: unknown): string {
  if (Array.isArray(v)) return "[]";
  if (v !== null && typeof v === "object") return "{}";
  return scalar(v);
}
