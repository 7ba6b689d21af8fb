// The page. It connects the model to the elements, and limits how often they are drawn.

import { ask, follow, restart, useToken } from "./client";
import { Details } from "./details";
import { ago, fill, h, later } from "./dom";
import { Graph } from "./graph";
import { mostNodes, picture, type Node as Drawn } from "./layout";
import { describe, Model, type Change, type Obj, type State } from "./model";

/** The time in seconds for which removed objects are shown. */
const fade = 4;
/** The maximum number of rows in the table. */
const mostRows = 1000;

const model = new Model();
let skew = 0;
const now = () => Date.now() / 1000 + skew;
/** at is the number of the last change whose result is shown. null means now. */
let at: number | null = null;
let selected: string | null = null;
let connection: "connecting" | "live" | "stale" = "connecting", trouble = "", heard = 0;
let view: "graph" | "table" = "graph";
let findings: any[] | null = null, none = "none", lintError = "";
const filter = { text: "", namespace: "", label: "", alone: false, kinds: new Set<string>(), uids: null as Set<string> | null };
let scope = "";

let world = model.world(null, now(), fade);

// The elements: the header, the overview, the graph or the table, the details, the timeline.
const status = h("span", { id: "status", role: "status" });
const facts = h("dl", { id: "facts" });
const search = h("input", { id: "search", type: "search", placeholder: "name (press /)", "aria-label": "Search by name", oninput: () => { filter.text = search.value; filter.uids = null; redraw(); } });
const namespaces = h("select", { id: "namespace", "aria-label": "Namespace", onchange: () => {
  filter.namespace = namespaces.value; filter.uids = null;
  if (!model.synced || scope) within(filter.namespace);
  redraw();
} });
const label = h("input", { id: "label", placeholder: "label: app=web", "aria-label": "Filter by label, key or key=value", oninput: () => { filter.label = label.value.trim(); redraw(); } });
const alone = h("input", { type: "checkbox", id: "alone", onchange: () => { filter.alone = alone.checked; redraw(); } });
const kinds = h("ul", { id: "kinds" }), problems = h("ul", { id: "problems" }), dying = h("ul", { id: "dying" });
const canvas = h("div", { id: "canvas", role: "img", "aria-label": "Graph of owners. The table has the same for the keyboard." });
const note = h("p", { id: "note", role: "status" }), table = h("div", { id: "table", hidden: true });
const tools = h("div", { id: "tools" },
  h("button", { onclick: () => graph.zoom(1.3), "aria-label": "Zoom in" }, "+"),
  h("button", { onclick: () => graph.zoom(1 / 1.3), "aria-label": "Zoom out" }, "−"),
  h("button", { onclick: () => graph.fit(), id: "fit" }, "Fit"));
const legend = h("ul", { id: "legend", "aria-label": "Legend" },
  (["live", "deleting", "blocked", "orphaned", "collected"] as State[]).map((s) => h("li", {}, h("i", { class: "box " + s }), s)),
  [["plain", "owner"], ["controller", "controller"], ["blocking", "blocks its owner"], ["dangling", "owner is missing"], ["namespace", "in another namespace"]]
    .map(([c, t]) => h("li", {}, h("i", { class: "line " + c }), t)));
const views = (["graph", "table"] as const).map((v) => h("button", { id: "view-" + v, "aria-pressed": "false", onclick: () => { view = v; redraw(); } }, v === "graph" ? "Graph" : "Table"));
const themes = h("button", { id: "theme", onclick: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark") }, "Theme");
const slider = h("input", { type: "range", id: "slider", min: 0, max: 0, value: 0, "aria-label": "Moment", oninput: () => go(Number(slider.value) + model.dropped) });
const pause = h("button", { id: "pause", onclick: () => go(at === null ? end() : null) });
const moment = h("span", { id: "moment" }), log = h("ol", { id: "log", "aria-label": "Changes" });
/** The resources that are not shown, and a button to choose a namespace for users who may not list all namespaces. */
const hiddenKinds = h("summary"), hiddenList = h("ul"), hidden = h("details", { id: "hidden", hidden: true }, hiddenKinds, hiddenList);
const one = h("button", { class: "link", id: "one", hidden: true, onclick: () => void chooseNamespace("You may not list all namespaces.") }, "Choose a namespace");
const signin = h("dialog", { id: "signin", "aria-label": "Sign in" });

const details = new Details({ model, world: () => world, now, select: (uid) => select(uid) }, () => select(null));

document.body.append(
  h("header", {}, h("h1", {}, "kubecascade"), status, h("span", { class: "grow" }), search, namespaces, label,
    h("label", { class: "check" }, alone, "without owners, too"), h("span", { class: "group", role: "group", "aria-label": "View" }, views), themes),
  h("main", {},
    h("nav", { id: "overview", "aria-label": "Overview" },
      h("h2", {}, "Cluster"), facts, hidden, one, h("h2", {}, "Terminating"), dying,
      h("h2", {}, "Findings ", h("button", { class: "link", id: "lint", onclick: () => void lint() }, "check again")), problems,
      h("h2", {}, "Kinds"), kinds, h("p", { class: "muted" }, h("a", { href: "licenses.txt", target: "_blank" }, "Licenses of the libraries"))),
    h("section", { id: "picture", "aria-label": "Objects" }, note, canvas, table, tools, legend),
    details.box),
  h("footer", {}, h("div", { class: "bar" }, pause,
    h("button", { onclick: () => go((at ?? end()) - 1), "aria-label": "Step back", id: "back" }, "‹"), slider,
    h("button", { onclick: () => step(1), "aria-label": "Step forward", id: "forward" }, "›"), moment), log),
  signin);
// The graph measures its box, which must already be in the document.
const graph = new Graph(canvas, (id) => pick(id));

function end() { return model.dropped + model.history.length; }
function step(n: number) { if (at !== null) go(at + n); }
function go(to: number | null) {
  at = to === null ? null : Math.max(model.dropped, Math.min(to, end()));
  redraw();
}

/** within makes the server send only the objects of one namespace, or all objects if it is empty. */
function within(namespace: string) {
  scope = filter.namespace = namespace;
  model.forget();
  go(null);
  restart();
  void lint();
}

function theme(name: string) {
  document.documentElement.dataset.theme = name;
  graph.theme(name === "dark");
  redraw();
}

function labelled(o: Obj): boolean {
  if (!filter.label) return true;
  const [k, ...v] = filter.label.split("=");
  return o.l !== undefined && Object.hasOwn(o.l, k) && (!v.length || o.l[k] === v.join("="));
}

/** chosen returns the objects that pass the filters. Without one it omits objects without owners and dependents. */
function chosen(): Obj[] {
  const all = [...world.objects.values(), ...world.gone.values()];
  const text = filter.text.toLowerCase();
  const exact = text !== "" || filter.label !== "" || filter.kinds.size > 0 || filter.uids !== null;
  const wanted = new Set<Obj>();
  for (const o of all) {
    if (filter.namespace && (o.ns ?? "") !== filter.namespace && !(o.r === "namespaces" && o.n === filter.namespace)) continue;
    if (filter.uids && !filter.uids.has(o.uid)) continue;
    if (filter.kinds.size && !filter.kinds.has(o.r)) continue;
    if (text && !o.n.toLowerCase().includes(text)) continue;
    if (!labelled(o)) continue;
    if (!exact && !filter.alone && !o.o?.length && !world.dependents.has(o.uid) && !o.d && world.state(o) !== "collected" && o.uid !== selected) continue;
    wanted.add(o);
  }
  if (text && wanted.size < 200) { // with their owners and dependents
    const add = (o: Obj, depth: number) => {
      wanted.add(o);
      if (depth < 20) for (const r of o.o ?? []) { const w = world.get(r.uid); if (w && !wanted.has(w)) add(w, depth + 1); }
    };
    for (const o of [...wanted]) {
      add(o, 0);
      for (const uid of world.dependents.get(o.uid) ?? []) { const d = world.get(uid); if (d) wanted.add(d); }
    }
  }
  return [...wanted];
}

function pick(id: string | null) {
  if (id === null) return select(null);
  const n = drawn.find((d) => d.id === id);
  if (!n) return;
  if (n.type === "object") return select(n.id);
  if (n.type === "missing") return select(n.objects[0].uid);
  if (n.type === "group" && n.objects.length === 1) return select(n.objects[0].uid);
  filter.uids = new Set(n.objects.map((o) => o.uid));
  if (n.objects.length > mostNodes) view = "table";
  graph.fit();
  redraw();
}

function select(uid: string | null) {
  selected = uid;
  draw();
  if (uid) graph.reveal(drawn.find((n) => n.objects.some((o) => o.uid === uid) && n.type !== "missing")?.id ?? uid);
}

let drawn: Drawn[] = [];
const redraw = later(60, draw);

function draw() {
  world = model.world(at, now(), fade);
  if (world.gone.size && at === null) setTimeout(redraw, fade * 250);
  const objects = chosen();
  const p = picture(world, objects, (o) => model.kind(o));
  drawn = p.nodes;
  const found = new Set<string>();
  if (filter.text) for (const n of p.nodes) if (n.objects.some((o) => n.type === "object" && o.n.toLowerCase().includes(filter.text.toLowerCase()))) found.add(n.id);
  canvas.hidden = tools.hidden = legend.hidden = view !== "graph";
  table.hidden = view !== "table";
  views.forEach((b) => b.setAttribute("aria-pressed", String(b.id === "view-" + view)));
  if (view === "graph") graph.draw(p, selected, found);
  else rows(objects);
  fill(note, filter.uids ? [`${objects.length} objects of a group. `, h("button", { class: "link", onclick: () => { filter.uids = null; graph.fit(); redraw(); } }, "Show all")]
    : p.grouped && view === "graph" ? `${objects.length} objects, grouped by owner and kind, as they are more than ${mostNodes}. Click on a group to see its objects.`
      : objects.length || !model.synced ? "" : filter.text || filter.label || filter.kinds.size || filter.namespace ? "No objects match the filters."
        : "No objects with owners or dependents.");
  const o = selected ? world.get(selected) ?? null : null;
  details.show(o ?? (selected ? [...model.history].reverse().find((c) => c.b?.uid === selected)?.b ?? null : null));
  if (model.synced) { overview(); timeline(); }
  showStatus();
}

function rows(objects: Obj[]) {
  const order: Record<State, number> = { blocked: 0, deleting: 1, orphaned: 2, collected: 3, live: 4 };
  const sorted = objects.map((o) => ({ o, state: world.state(o) })).sort((a, b) => order[a.state] - order[b.state] ||
    (a.o.ns ?? "").localeCompare(b.o.ns ?? "") || a.o.r.localeCompare(b.o.r) || a.o.n.localeCompare(b.o.n));
  fill(table, h("table", {}, h("caption", {}, `${objects.length} objects`),
    h("thead", {}, h("tr", {}, ["State", "Namespace", "Kind", "Name", "Owners", "Dependents", "Finalizers", "Age"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, sorted.slice(0, mostRows).map(({ o, state }) => h("tr", { class: o.uid === selected ? "selected" : undefined },
      h("td", {}, h("span", { class: "state " + state }, state)), h("td", {}, o.ns ?? ""), h("td", {}, model.kind(o)),
      h("td", {}, h("button", { class: "link", "data-uid": o.uid, onclick: () => select(o.uid) }, o.n)),
      h("td", {}, (o.o ?? []).map((r) => `${r.kind} ${r.name}${world.reference(o, r) === "dangling" ? " (missing)" : ""}`).join(", ")),
      h("td", {}, world.dependents.get(o.uid)?.length ?? 0), h("td", {}, (o.f ?? []).join(", ")), h("td", {}, o.c ? ago(now() - o.c) : ""))))),
    objects.length > mostRows ? h("p", {}, `The first ${mostRows} are shown. Use the filters.`) : null);
}

function overview() {
  const row = (k: string, v: string | number, id: string) => [h("dt", {}, k), h("dd", { id }, v)];
  const recent = (test: (c: Change) => boolean) => {
    const from = now() - 10;
    let n = 0;
    for (let i = model.history.length - 1; i >= 0 && (model.history[i].t ?? 0) > from; i--) if (test(model.history[i])) n++;
    return (n / 10).toFixed(1) + "/s";
  };
  fill(facts, row("objects", world.objects.size, "fact-objects"), row("revision", model.revision || "not one revision", "fact-revision"),
    row("collector's queue", model.queue ?? "not known", "fact-queue"), row("changes", recent(() => true), "fact-changes"),
    row("removals", recent((c) => !c.a), "fact-removals"),
    row("source", model.source === "server" ? "this server's memory" : "lists and watches", "fact-source"));
  const unknown = [...model.resources.values()].filter((r) => r.unknown);
  hidden.hidden = !unknown.length && !model.stale.length;
  fill(hiddenKinds, [unknown.length && `${unknown.length} kinds are not shown`, model.stale.length && `${model.stale.length} are not watched`]
    .filter(Boolean).join(", "));
  fill(hiddenList, unknown.map((r) => h("li", {}, `${r.name}: ${r.unknown}`)), model.stale.map((s) => h("li", {}, s)));
  one.hidden = !unknown.some((r) => r.namespaced);
  const item = (o: Obj, text: string) => h("li", {}, h("button", { class: "link", "data-uid": o.uid, onclick: () => select(o.uid) }, `${model.kind(o)} ${o.n}`), " ", h("span", { class: "muted" }, text));
  const held = [...world.objects.values()].filter((o) => o.d).sort((a, b) => Number(b.r === "namespaces") - Number(a.r === "namespaces") || a.d! - b.d!);
  fill(dying, held.length ? held.slice(0, 12).map((o) => item(o, `for ${ago(now() - (o.d! - (o.g ?? 0)))}${o.f?.length ? ", " + o.f.join(", ") : ""}`)) : h("li", { class: "muted" }, "nothing"),
    held.length > 12 ? h("li", { class: "muted" }, `${held.length - 12} more`) : null);
  fill(problems, lintError ? h("li", { class: "error" }, lintError) : findings === null ? h("li", { class: "muted" }, "…") :
    findings.length ? [...findings.slice(0, 12).map((f) => h("li", {}, h("b", {}, f.rule), " ",
      h("button", { class: "link", "data-uid": f.object.uid, onclick: () => select(f.object.uid) }, `${f.object.kind} ${f.object.name}`), h("div", { class: "muted" }, f.message))),
    findings.length > 12 ? h("li", { class: "muted" }, `${findings.length - 12} more; kubecascade lint has all`) : null] : h("li", { class: "muted" }, none));
  const counts = new Map<string, number>(), ns = new Set<string>();
  for (const o of world.objects.values()) {
    counts.set(o.r, (counts.get(o.r) ?? 0) + 1);
    if (o.ns) ns.add(o.ns);
    if (o.r === "namespaces") ns.add(o.n);
  }
  const list = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  fill(kinds, list.map(([r, n]) => h("li", {}, h("label", { class: "check" }, h("input", { type: "checkbox", id: "kind-" + r, checked: filter.kinds.has(r), onchange: (e) => {
    if (e.target.checked) filter.kinds.add(r); else filter.kinds.delete(r);
    redraw();
  } }), model.resources.get(r)?.kind ?? r, h("span", { class: "count" }, n)))));
  if (filter.namespace) ns.add(filter.namespace);
  const names = ["", ...[...ns].sort()];
  if (names.join("\n") !== [...namespaces.options].map((o) => o.value).join("\n") && document.activeElement !== namespaces) {
    fill(namespaces, names.map((n) => h("option", { value: n, selected: n === filter.namespace }, n || "all namespaces")));
  }
}

function timeline() {
  const n = model.history.length;
  slider.max = String(n);
  slider.value = String(at === null ? n : at - model.dropped);
  const last = at === null ? n : Math.max(0, at - model.dropped);
  slider.setAttribute("aria-valuetext", `after ${last} of ${n} changes`);
  fill(pause, at === null ? "Pause" : "Live");
  const c = model.history[last - 1];
  fill(moment, at === null ? "now" : c ? `${new Date((c.t ?? 0) * 1000).toLocaleTimeString()}${c.rev ? `, revision ${c.rev}` : ""}` : "before the first change");
  fill(log, model.history.slice(Math.max(0, last - 60), last).reverse().map((c) => {
    const o = (c.a ?? c.b)!;
    return h("li", {}, h("span", { class: "muted" }, new Date((c.t ?? 0) * 1000).toLocaleTimeString() + " "),
      h("button", { class: "link", "data-uid": o.uid, onclick: () => select(o.uid) }, `${model.kind(o)} ${o.n}`), " " + describe(c));
  }));
}

function showStatus() {
  const silent = Date.now() / 1000 - heard;
  // Without discovery, or without watches of most resources, the objects are old.
  const old = model.stale.some((s) => s.startsWith("discovery:")) || model.stale.length * 2 > model.resources.size;
  const parts = connection === "stale" ? `stale for ${ago(silent)}: ${trouble}` : connection === "connecting" ? `connecting…${trouble ? " " + trouble : ""}`
    : old ? "stale" : at === null ? "live" : "paused";
  status.className = connection !== "live" ? connection : old ? "stale" : at !== null ? "paused" : "live";
  const text = parts + (model.stale.length ? `; not watched: ${model.stale.slice(0, 2).join(", ")}` +
    (model.stale.length > 2 ? `, and ${model.stale.length - 2} more` : "") : "");
  if (status.textContent !== text) status.textContent = text;
}

async function lint() {
  try {
    const found = await ask("/kubecascade/v1/lint", { namespace: scope });
    findings = found.items;
    none = found.notListed ? "none in what is known" : "none";
    lintError = "";
  } catch (e) { lintError = (e as Error).message; }
  redraw();
}

/** chooseNamespace asks the user for a namespace. */
async function chooseNamespace(why: string) {
  const before = scope;
  await signIn(413, why);
  if (scope !== before) within(scope);
}

/** signIn asks the user for a token or a namespace. The promise ends when the user closes the dialog. */
function signIn(code: number, why: string): Promise<void> {
  return new Promise((done) => {
    const input = h("input", { type: code === 401 ? "password" : "text", autocomplete: "off", id: "answer", required: true });
    const ok = () => {
      if (code === 401) useToken(input.value);
      else scope = filter.namespace = input.value.trim();
      model.forget();
      at = null;
      signin.close();
    };
    signin.onclose = () => done(); // Escape closes the dialog, too
    fill(signin, h("h2", {}, code === 401 ? "Sign in" : "Choose a namespace"), h("p", { class: "error" }, why),
      h("label", { for: "answer" }, code === 401 ? "Bearer token. It is kept in this page's memory only." : "Namespace"), input,
      h("button", { id: "answer-ok", onclick: ok }, "Continue"));
    input.addEventListener("keydown", (e) => {
      if (e.key !== "Enter") return;
      e.preventDefault(); // else Enter would press the button that receives the focus
      ok();
    });
    if (!signin.open) signin.showModal();
    input.focus();
  });
}

document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test((e.target as HTMLElement).tagName);
  if (e.key === "Escape" && !signin.open) select(null);
  if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") { e.preventDefault(); search.focus(); }
  if (e.key === "t") { view = view === "graph" ? "table" : "graph"; redraw(); }
  if (e.key === "f") graph.fit();
});

let checked = false;
/** Findings for another cluster need a list of all objects, so they are rarely requested, and only by a visible page. */
const seen = () => document.visibilityState === "visible";
const lintSoon = later(30000, () => { if (seen() && model.source === "server") void lint(); });
const lintSeldom = later(300000, () => { if (seen() && model.source !== "server") void lint(); });
const wide = matchMedia("(prefers-color-scheme: dark)");
theme(wide.matches ? "dark" : "light");
wide.addEventListener("change", () => theme(wide.matches ? "dark" : "light"));
setInterval(() => { showStatus(); if (connection === "live" && view === "graph" && at === null && document.visibilityState === "visible" && model.synced) overview(); }, 5000);

let failures = 0;
void follow(() => new URLSearchParams({ ...(model.synced ? {} : { past: "true" }), ...(scope ? { namespace: scope } : {}) }), {
  message(m) {
    heard = Date.now() / 1000;
    skew = Date.parse(m.time) / 1000 - heard;
    const changed = model.apply(m, now());
    if (m.type === "synced") {
      connection = "live";
      failures = 0;
      if (!checked) { checked = true; void lint(); }
    }
    if (changed) { redraw(); if (checked) { lintSoon(); lintSeldom(); } } else showStatus();
  },
  async lost(why, code) {
    connection = model.synced ? "stale" : "connecting";
    trouble = why;
    showStatus();
    // Without credentials the secure port returns 403 if it allows anonymous users.
    if (code === 401 || code === 413) return signIn(code, why);
    if (code === 403 && location.protocol === "https:") return signIn(401, why);
    await new Promise((done) => setTimeout(done, Math.min(1000 * 2 ** Math.min(failures++, 4), 10000)));
  },
});

declare global { interface Window { kubecascade: { place(uid: string): { x: number; y: number }; drawn(): number; lines(): string[] } } }
/** For browser tests: the position of an object on the canvas, the number of nodes, and the types of the edges. */
window.kubecascade = {
  place: (uid) => graph.place(uid), drawn: () => drawn.filter((n) => n.type !== "title").length, lines: () => graph.lines(),
};
