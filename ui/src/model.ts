// The state of the cluster: its current objects, and the changes of the last minutes. It sends no requests.

export interface Owner { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean; block?: boolean }

/** Obj is the server's ui.Object. */
export interface Obj {
  r: string; ns?: string; n: string; uid: string; c?: number; d?: number; g?: number;
  f?: string[]; o?: Owner[]; l?: Record<string, string>;
}
export interface Resource {
  name: string; apiVersion: string; kind: string; plural: string; namespaced?: boolean; unknown?: string;
}
export interface Change { rev?: number; t?: number; b?: Obj; a?: Obj }
export interface Message {
  type: string; revision?: number; time: string; source?: string; resources?: Resource[]; objects?: Obj[];
  changes?: Change[]; queue?: number; stale?: string[]; error?: string;
}

/** State is the state of an object in its life. */
export type State = "live" | "deleting" | "blocked" | "orphaned" | "collected";

/** The limits of the history: the number of changes, their total size in characters, and their age in seconds. */
const mostChanges = 20000, mostText = 16 << 20, longest = 15 * 60;

/** text returns the approximate size of a change in characters. Clients may write a megabyte of finalizers. */
function text(c: Change): number {
  let n = 200;
  for (const o of [c.b, c.a]) {
    for (const f of o?.f ?? []) n += f.length;
    for (const r of o?.o ?? []) n += 50 + r.name.length + r.kind.length + r.uid.length;
    for (const [k, v] of Object.entries(o?.l ?? {})) n += k.length + v.length;
  }
  return n;
}

/** World has the objects at one moment. */
export class World {
  dependents = new Map<string, string[]>();
  constructor(readonly objects: Map<string, Obj>, readonly orphans: Set<string>, readonly gone: Map<string, Obj>) {
    for (const o of objects.values()) {
      for (const w of o.o ?? []) {
        const list = this.dependents.get(w.uid);
        if (list) list.push(o.uid);
        else this.dependents.set(w.uid, [o.uid]);
      }
    }
  }

  get(uid: string): Obj | undefined { return this.objects.get(uid) ?? this.gone.get(uid); }

  state(o: Obj): State {
    if (!this.objects.has(o.uid)) return "collected";
    if (o.d) return o.f?.length || (o.r === "namespaces") ? "blocked" : "deleting";
    if (this.orphans.has(o.uid)) return "orphaned";
    if (o.o?.length && o.o.every((w) => !this.objects.has(w.uid))) return "orphaned";
    return "live";
  }

  /** reference returns the error of an owner reference, or an empty string. */
  reference(o: Obj, w: Owner): "dangling" | "namespace" | "" {
    const owner = this.objects.get(w.uid);
    if (!owner) return "dangling";
    if (owner.ns && owner.ns !== o.ns) return "namespace";
    return "";
  }
}

export class Model {
  resources = new Map<string, Resource>();
  source = "";
  revision = 0;
  queue: number | undefined;
  stale: string[] = [];
  synced = false;
  history: Change[] = [];
  /** dropped is the number of changes that were removed from the beginning of history. */
  dropped = 0;
  private objects = new Map<string, Obj>();
  private incoming = new Map<string, Obj>();
  private past: Change[] = [];
  private kept: World | null = null;
  private size = 0;
  /** unknown has the reasons why resources were not shown in the previous state. */
  private unknown = new Map<string, string | undefined>();

  /** forget removes the whole state. The next state is that of another user or namespace, not a change of this one. */
  forget() {
    this.synced = false;
    this.dropped += this.history.length;
    this.history = [];
    this.size = 0;
    this.objects = new Map();
    this.kept = null;
  }

  /** apply processes a message, and reports whether the objects have changed. */
  apply(m: Message, now: number): boolean {
    if (m.revision) this.revision = m.revision;
    switch (m.type) {
      case "begin":
        this.incoming = new Map();
        this.past = [];
        this.source = m.source ?? "";
        this.unknown = new Map([...this.resources.values()].map((r) => [r.name, r.unknown]));
        this.resources = new Map((m.resources ?? []).map((r) => [r.name, r]));
        return false;
      case "objects":
        for (const o of m.objects ?? []) this.incoming.set(o.uid, o);
        return false;
      case "past":
        this.past.push(...(m.changes ?? []));
        return false;
      case "synced":
        this.queue = m.queue;
        this.reconcile(now);
        return true;
      case "changes":
        for (const c of m.changes ?? []) this.change(c, now);
        this.trim(now);
        return true;
      case "beat":
        this.queue = m.queue;
        this.stale = m.stale ?? [];
    }
    return false;
  }

  /** reconcile replaces the objects by the new state. The changes during a lost connection become history. */
  private reconcile(now: number) {
    if (!this.synced) {
      this.history = this.past.filter((c) => !c.t || now - c.t < longest).map((c) => ({ ...c }));
      let t = now;
      for (let i = this.history.length - 1; i >= 0; i--) {
        const c = this.history[i];
        t = c.t = Math.min(c.t || t, t);
      }
      this.objects = this.incoming;
    } else {
      // Objects that the user may not see any more were not removed; those that the user may now see were not created.
      const same = (o: Obj) => this.unknown.get(o.r) === this.resources.get(o.r)?.unknown;
      for (const [uid, o] of this.objects) if (!this.incoming.has(uid) && same(o)) this.history.push({ t: now, b: o });
      for (const [uid, o] of this.incoming) {
        const before = this.objects.get(uid);
        if (before ? JSON.stringify(before) !== JSON.stringify(o) : same(o)) this.history.push({ t: now, b: before, a: o });
      }
      this.objects = this.incoming;
    }
    this.synced = true;
    this.incoming = new Map();
    this.past = [];
    this.size = this.history.reduce((n, c) => n + text(c), 0);
    this.trim(now);
  }

  private change(c: Change, now: number) {
    c.t ??= now;
    if (c.a) this.objects.set(c.a.uid, c.a);
    else if (c.b) this.objects.delete(c.b.uid);
    this.history.push(c);
    this.size += text(c);
  }

  private trim(now: number) {
    let n = 0;
    for (; n < this.history.length; n++) {
      const c = this.history[n];
      if (this.history.length - n <= mostChanges && this.size <= mostText && now - (c.t ?? now) <= longest) break;
      this.size -= text(c);
    }
    if (n) this.history.splice(0, n);
    this.dropped += n;
    this.kept = null;
  }

  /** world returns the objects after the change with the number at, or now. It includes recently removed ones. */
  world(at: number | null, now: number, fade: number): World {
    if (at === null && this.kept && !this.kept.gone.size) return this.kept;
    const end = at === null ? this.history.length : Math.max(0, Math.min(at - this.dropped, this.history.length));
    const objects = new Map(this.objects);
    for (let i = this.history.length - 1; i >= end; i--) {
      const c = this.history[i];
      if (c.b) objects.set(c.b.uid, c.b);
      else if (c.a) objects.delete(c.a.uid);
    }
    const orphans = new Set<string>(), gone = new Map<string, Obj>();
    const moment = at === null ? now : this.history[end - 1]?.t ?? now;
    for (let i = 0; i < end; i++) {
      const c = this.history[i];
      if (c.a && c.b && (c.b.o?.length ?? 0) > 0 && !c.a.o?.length && objects.has(c.a.uid)) orphans.add(c.a.uid);
      if (!c.a && c.b && moment - (c.t ?? 0) < fade) gone.set(c.b.uid, c.b);
    }
    for (const uid of objects.keys()) gone.delete(uid);
    const world = new World(objects, orphans, gone);
    if (at === null) this.kept = world;
    return world;
  }

  /** kind returns the kind of an object's resource. */
  kind(o: Obj): string { return this.resources.get(o.r)?.kind ?? o.r; }

  /** path returns the object's path in the API. */
  path(o: Obj): string {
    const r = this.resources.get(o.r);
    const version = r?.apiVersion ?? "v1";
    const part = encodeURIComponent;
    return (version.includes("/") ? "/apis/" : "/api/") + version + (o.ns ? "/namespaces/" + part(o.ns) : "") +
      "/" + part(r?.plural ?? o.r) + "/" + part(o.n);
  }
}

/** describe returns the description of a change. */
export function describe(c: Change): string {
  if (!c.b) return "created";
  if (!c.a) return "removed";
  const said: string[] = [];
  const list = (what: string[]) => what.join(", ");
  if (!c.b.d && c.a.d) said.push("deletion began" + (c.a.f?.length ? `, held by ${list(c.a.f)}` : ""));
  else {
    const more = (c.a.f ?? []).filter((f) => !c.b!.f?.includes(f)), less = (c.b.f ?? []).filter((f) => !c.a!.f?.includes(f));
    if (more.length) said.push(`finalizer ${list(more)} added`);
    if (less.length) said.push(`finalizer ${list(less)} removed`);
  }
  const uids = (o?: Owner[]) => (o ?? []).map((w) => w.uid);
  const lost = (c.b.o ?? []).filter((w) => !uids(c.a!.o).includes(w.uid));
  const found = (c.a.o ?? []).filter((w) => !uids(c.b!.o).includes(w.uid));
  if (lost.length) said.push(`owner ${list(lost.map((w) => `${w.kind} ${w.name}`))} removed`);
  if (found.length) said.push(`owner ${list(found.map((w) => `${w.kind} ${w.name}`))} added`);
  return said.join("; ") || "metadata changed";
}
