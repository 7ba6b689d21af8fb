// The selected object: its metadata, the reasons why it exists, the effects of a deletion, and the deletion.

import { ask, Failure } from "./client";
import { ago, fill, h } from "./dom";
import { describe, type Model, type Obj, type World } from "./model";
import { yaml } from "./yaml";

export interface Context {
  model: Model; world(): World; now(): number; select(uid: string): void;
}

const questions = "/kubecascade/v1/";
const tabs = ["Metadata", "Why", "Preview and delete", "Events", "YAML"] as const;
type Tab = (typeof tabs)[number];

/** hide replaces the values in a Secret by "(hidden)". */
function hide(o: any): any {
  if (o?.kind !== "Secret") return o;
  const out = { ...o };
  for (const field of ["data", "stringData"]) {
    if (out[field]) out[field] = Object.fromEntries(Object.keys(out[field]).map((k) => [k, "(hidden)"]));
  }
  const notes = out.metadata?.annotations;
  const last = "kubectl.kubernetes.io/last-applied-configuration";
  if (notes?.[last]) out.metadata = { ...out.metadata, annotations: { ...notes, [last]: "(hidden)" } };
  return out;
}

export class Details {
  readonly box = h("aside", { id: "details", "aria-label": "Selected object", hidden: true });
  private tab: Tab = "Metadata";
  private object: Obj | null = null;
  private shown = "";
  private body = h("div", { id: "tab", role: "tabpanel", tabindex: 0 });
  private head = h("div", { class: "head" });
  private bar = h("div", { role: "tablist", "aria-label": "About the object" });
  /** turn counts requests, so that a late response to an earlier request is not shown. */
  private turn = 0;
  private policy = "Background";

  constructor(private c: Context, private close: () => void) {
    this.box.append(this.head, this.bar, this.body);
    this.bar.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      this.open(tabs[(tabs.indexOf(this.tab) + step + tabs.length) % tabs.length]);
      (this.bar.querySelector("[aria-selected=true]") as HTMLElement)?.focus();
    });
  }

  /** show displays an object, or the new state of the displayed object. */
  show(o: Obj | null) {
    const before = this.object;
    this.object = o;
    this.box.hidden = !o;
    if (!o) { this.shown = ""; return; }
    const state = this.c.world().state(o), key = JSON.stringify([o, state]);
    if (key === this.shown) return;
    this.shown = key;
    fill(this.head, h("h2", { tabindex: -1 }, `${this.c.model.kind(o)} ${o.n}`), h("span", { class: "state " + state }, state),
      h("button", { onclick: this.close, "aria-label": "Close", class: "close" }, "×"));
    if (before?.uid !== o.uid) this.open(this.tab);
    else if (this.tab === "Metadata" || this.tab === "Why") this.open(this.tab);
  }

  open(tab: Tab) {
    this.tab = tab;
    this.body.setAttribute("aria-label", tab);
    fill(this.bar, tabs.map((t) => h("button", {
      role: "tab", id: "tab-" + tabs.indexOf(t), "aria-selected": String(t === tab), tabindex: t === tab ? 0 : -1, onclick: () => this.open(t),
    }, t)));
    const o = this.object!;
    switch (tab) {
      case "Metadata": fill(this.body, this.metadata(o)); return void this.managers(o);
      case "Why": return void this.later(this.c.world().state(o) === "collected" ? this.trail(o) : this.why(o));
      case "Preview and delete": return this.deletion(o);
      case "Events": return void this.later(this.events(o));
      case "YAML": return void this.later(ask(this.c.model.path(o)).then((v) => {
        if (v.metadata) delete v.metadata.managedFields;
        return h("pre", {}, yaml(hide(v)));
      }));
    }
  }

  /** later displays the result of a promise. */
  private async later(p: Promise<Node | Node[]>) {
    const turn = ++this.turn;
    fill(this.body, h("p", { class: "muted" }, "…"));
    let got: Node | Node[];
    try { got = await p; } catch (e) { got = h("p", { class: "error", role: "alert" }, (e as Error).message); }
    if (turn === this.turn) fill(this.body, got);
  }

  private link(uid: string, kind: string, name: string): Node {
    const there = this.c.world().get(uid);
    if (!there) return h("span", { class: "error" }, `${kind} ${name} (does not exist)`);
    return h("button", { class: "link", onclick: () => this.c.select(uid) }, `${kind} ${name}`);
  }

  private metadata(o: Obj): Node[] {
    const w = this.c.world(), now = this.c.now(), rows: Node[] = [];
    const row = (name: string, ...value: (Node | string | number)[]) => rows.push(h("dt", {}, name), h("dd", {}, ...value));
    const list = (items: (Node | string)[]) => h("ul", {}, items.map((i) => h("li", {}, i)));
    if (o.ns) row("namespace", o.ns);
    row("apiVersion", this.c.model.resources.get(o.r)?.apiVersion ?? "");
    row("uid", o.uid);
    if (o.c) row("age", ago(now - o.c));
    if (o.d) row("terminating", `for ${ago(now - (o.d - (o.g ?? 0)))}` + (o.g ? `, grace period ${o.g}s` : ""));
    if (o.f?.length) row("finalizers", list(o.f));
    if (o.o?.length) row("owners", list(o.o.map((r) => h("span", {}, this.link(r.uid, r.kind, r.name), " ",
      [r.controller && "controller", r.block && "blocking", w.reference(o, r) === "namespace" && "in another namespace"]
        .filter(Boolean).join(", ")))));
    const below = w.dependents.get(o.uid) ?? [];
    if (below.length) row("dependents", list([...below.slice(0, 50).map((uid) => {
      const d = w.get(uid)!;
      return this.link(uid, this.c.model.kind(d), d.n);
    }), ...(below.length > 50 ? [`${below.length - 50} more`] : [])]));
    if (o.l) row("labels", list(Object.entries(o.l).map(([k, v]) => `${k}=${v}`)));
    const past = this.c.model.history.filter((c) => (c.a ?? c.b)!.uid === o.uid).slice(-20);
    if (past.length) row("changes", list(past.map((c) =>
      `${new Date((c.t ?? 0) * 1000).toLocaleTimeString()} ${c.rev ? `revision ${c.rev}: ` : ""}${describe(c)}`)));
    return [h("dl", {}, rows), h("section", { id: "managers" })];
  }

  private async managers(o: Obj) {
    this.turn++;
    const turn = this.turn;
    try {
      const v = await ask(this.c.model.path(o));
      const all: any[] = v.metadata?.managedFields ?? [];
      const into = this.body.querySelector("#managers");
      if (turn !== this.turn || !into || !all.length) return;
      fill(into, h("h3", {}, "managedFields"), all.map((m) => h("details", {},
        h("summary", {}, `${m.manager} · ${m.operation}${m.subresource ? " · " + m.subresource : ""}`),
        h("pre", {}, yaml(m.fieldsV1 ?? {})))));
    } catch { /* the object is gone, or the user may not read it */ }
  }

  private about(o: Obj) { return { resource: o.r, namespace: o.ns, name: o.n, uid: o.uid }; }

  private async why(o: Obj): Promise<Node> {
    const reason = (r: any): Node => h("li", {},
      h("div", {}, `${r.object.kind} ${r.object.name}: ${r.message}`),
      r.remedies?.length ? h("details", {}, h("summary", {}, "what can be done"), h("ul", {}, r.remedies.map((m: any) =>
        h("li", {}, m.text, m.command ? h("pre", {}, m.command) : null)))) : null,
      r.reasons?.length ? h("ul", {}, r.reasons.map(reason), r.more ? h("li", {}, `${r.more} more`) : null) : null);
    const r = await ask(questions + "why", this.about(o));
    return h("ul", { class: "tree" }, reason(r));
  }

  private async trail(o: Obj): Promise<Node> {
    const of = (r: any): string => `${r.object.kind} ${r.object.name}`;
    const by = (q: any): string => q ? `${q.controller || "user " + q.user}${q.reason ? ", " + q.reason : ""}` : "";
    const removal = (r: any): Node => h("li", {},
      `${of(r)}: ${r.removed ? `removed at revision ${r.removed.revision}` : "terminating"}` + (r.asked ? `; deleted by ${by(r.asked)}` : ""),
      r.asked?.owners?.length ? h("ul", {}, r.asked.owners.map((w: any) => w.trail ? removal(w.trail) : h("li", {}, of(w)))) : null);
    const a = await ask(questions + "trail", { uid: o.uid });
    return h("ul", { class: "tree" }, a.items.map(removal));
  }

  private async events(o: Obj): Promise<Node> {
    const base = o.ns ? `/api/v1/namespaces/${encodeURIComponent(o.ns)}/events` : "/api/v1/events";
    const a = await ask(base, { fieldSelector: "involvedObject.uid=" + o.uid, limit: "100" });
    if (!a.items.length) return h("p", { class: "muted" }, "No events.");
    return h("ul", {}, a.items.map((e: any) => h("li", {}, h("b", {}, e.reason), ` ${e.message} `,
      h("span", { class: "muted" }, `${e.count > 1 ? e.count + " times, " : ""}${e.lastTimestamp ?? e.eventTime ?? ""}`))));
  }

  private deletion(o: Obj) {
    const turn = ++this.turn;
    if (this.c.world().state(o) === "collected") return fill(this.body, h("p", {}, "The object is gone."));
    const out = h("div", { "aria-live": "polite" }), button = h("button", { class: "danger", disabled: true, id: "delete" }, "Delete");
    const choose = h("select", { id: "policy", onchange: () => { this.policy = choose.value; void show(); } },
      ["Background", "Foreground", "Orphan"].map((p) => h("option", { selected: p === this.policy }, p)));
    let asked = 0;
    const show = async () => {
      const mine = ++asked;
      button.disabled = true;
      fill(out, h("p", { class: "muted" }, "…"));
      try {
        const [p, may] = await Promise.all([
          ask(questions + "preview", { ...this.about(o), propagationPolicy: this.policy }), this.may(o)]);
        if (mine !== asked || turn !== this.turn) return;
        fill(out, preview(p), may ? null : h("p", { class: "error" }, "You may not delete this object."));
        button.disabled = !may;
      } catch (e) {
        if (mine === asked) fill(out, h("p", { class: "error", role: "alert" }, (e as Error).message));
      }
    };
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await ask(this.c.model.path(o), {}, { method: "DELETE", body: JSON.stringify({
          kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: this.policy, preconditions: { uid: o.uid },
        }) });
        if (turn === this.turn) fill(out, h("p", {}, "Deletion requested."));
      } catch (e) {
        if (turn !== this.turn) return;
        fill(out, h("p", { class: "error", role: "alert" }, (e as Failure).message));
        button.disabled = false;
      }
    });
    fill(this.body, h("p", { class: "form" }, h("label", { for: "policy" }, "propagation policy "), choose, " ", button), out);
    void show();
  }

  private async may(o: Obj): Promise<boolean> {
    const r = this.c.model.resources.get(o.r);
    const group = r?.apiVersion.includes("/") ? r.apiVersion.split("/")[0] : "";
    const a = await ask("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {}, { method: "POST", body: JSON.stringify({
      kind: "SelfSubjectAccessReview", apiVersion: "authorization.k8s.io/v1",
      spec: { resourceAttributes: { verb: "delete", group, resource: r?.plural, namespace: o.ns, name: o.n } },
    }) });
    return a.status?.allowed === true;
  }
}

/** preview renders the effects of a deletion. */
function preview(p: any): Node {
  const what: Record<string, string> = {
    Deleted: "is deleted", Terminating: "begins to terminate", FinalizersChanged: "changes its finalizers",
    OwnersRemoved: "loses its owner", Unblocked: "no longer blocks its owner", FinalizerRemoved: "loses a finalizer",
  };
  const name = (o: any) => `${o.kind} ${o.name}`;
  const held = (f?: string[]) => (f?.length ? ` (${f.join(", ")})` : "");
  return h("div", {},
    (p.warnings ?? []).map((w: any) => h("p", { class: "warning" }, w.message)),
    (p.admission ?? []).map((a: any) => h("p", { class: "warning" }, a.message)),
    h("h3", {}, "Would happen, in this order"),
    h("ol", {}, p.changes.slice(0, 300).map((c: any) =>
      h("li", {}, `${name(c.object)} ${what[c.change] ?? c.change}${held(c.finalizers)}, by the ${c.by}`.replace("by the the", "by the")))),
    p.changes.length > 300 ? h("p", {}, `${p.changes.length - 300} more`) : null,
    p.terminating?.length ? [h("h3", {}, "Would stay, terminating"),
      h("ul", {}, p.terminating.map((l: any) => h("li", {}, name(l.object) + held(l.finalizers))))] : null,
    p.dangling?.length ? [h("h3", {}, "Would keep a reference to an owner that is gone"),
      h("ul", {}, p.dangling.map((l: any) => h("li", {}, name(l.object))))] : null,
    h("h3", {}, "In all"),
    h("ul", {}, p.counts.map((c: any) => h("li", {}, `${c.resource}: ` + [c.deleted && `${c.deleted} deleted`,
      c.ownersRemoved && `${c.ownersRemoved} orphaned`, c.terminating && `${c.terminating} kept, terminating`].filter(Boolean).join(", ")))));
}
