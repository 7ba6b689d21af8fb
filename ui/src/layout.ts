// The nodes and their positions. d3-hierarchy arranges each tree of owners. Trees are in rows, by namespace.

import { hierarchy, tree } from "d3-hierarchy";
import type { Obj, State, World } from "./model";

/** Node is an object, a group of objects, an owner that does not exist, or the title of a namespace. */
export interface Node {
  id: string; type: "object" | "group" | "missing" | "title"; kind: string; name: string; x: number; y: number;
  state: State; objects: Obj[];
}
export interface Edge { id: string; from: string; to: string; type: string }
export interface Picture { nodes: Node[]; edges: Edge[]; grouped: boolean }

/** The maximum number of objects that have their own nodes. If there are more, they are grouped by owner and kind. */
export const mostNodes = 2000;
/** The maximum number of levels of groups. */
const mostDepth = 12;

const width = 176, height = 88, gap = 44, rowWidth = 1700;
const bad: Record<State, number> = { live: 0, collected: 1, orphaned: 2, deleting: 3, blocked: 4 };

/** parentOf returns the owner below which an object is drawn: its controller, or else its first owner that exists. */
function parentOf(w: World, o: Obj, shown: Map<string, Obj>): string | undefined {
  const there = (o.o ?? []).filter((r) => shown.has(r.uid) && r.uid !== o.uid);
  return (there.find((r) => r.controller) ?? there[0])?.uid;
}

/** family returns the parents of objects, without cycles, and the objects in an order in which parents come first. */
function family(w: World, objects: Obj[], shown: Map<string, Obj>): { parents: Map<string, string>; order: Obj[] } {
  const parents = new Map<string, string>(), order: Obj[] = [], done = new Set<string>();
  for (const o of objects) {
    const p = parentOf(w, o, shown);
    if (p) parents.set(o.uid, p);
  }
  for (const o of objects) { // without recursion, because a chain may contain all objects
    const way = new Set<string>();
    let at: string | undefined = o.uid;
    while (at !== undefined && !done.has(at) && !way.has(at)) { way.add(at); at = parents.get(at); }
    if (at !== undefined && way.has(at)) parents.delete(at); // a cycle
    const found = [...way];
    // at has lost its parent, so it begins a chain of its own. The objects below it come after it.
    const cut = at !== undefined && way.has(at) ? found.indexOf(at) + 1 : found.length;
    for (const uid of [...found.slice(0, cut).reverse(), ...found.slice(cut).reverse()]) {
      done.add(uid);
      order.push(shown.get(uid)!);
    }
  }
  return { parents, order };
}

/** picture arranges objects. Each group has objects of one namespace, unless there are too many groups. */
export function picture(w: World, objects: Obj[], kindOf: (o: Obj) => string, apart = true): Picture {
  const shown = new Map(objects.map((o) => [o.uid, o]));
  const { parents, order: upper } = family(w, objects, shown);
  const nodes = new Map<string, Node>(), parent = new Map<string, string>(), edges = new Map<string, Edge>();
  const grouped = objects.length > mostNodes;
  const nodeOf = new Map<string, string>();
  const depths = new Map<string, number>();
  for (const o of upper) {
    const up = parents.get(o.uid), depth = up ? Math.min(depths.get(up)! + 1, mostDepth) : 0;
    depths.set(o.uid, depth);
    // The deepest groups have no groups below them, because the length of an id grows with the depth.
    const above = !up ? "" : grouped && depths.get(up) === mostDepth ? parent.get(nodeOf.get(up)!)! : nodeOf.get(up)!;
    const kind = kindOf(o), id = grouped ? `group/${above || (apart && o.ns) || ""}/${o.r}` : o.uid;
    nodeOf.set(o.uid, id);
    const state = w.state(o), have2 = nodes.get(id);
    if (have2) {
      have2.objects.push(o);
      if (bad[state] > bad[have2.state]) have2.state = state;
    } else {
      nodes.set(id, { id, type: grouped ? "group" : "object", kind, name: o.n, x: 0, y: 0, state, objects: [o] });
      if (above) parent.set(id, above);
    }
  }
  if (grouped && apart && nodes.size > mostNodes) return picture(w, objects, kindOf, false);
  for (const o of objects) {
    for (const r of o.o ?? []) {
      const wrong = w.state(o) === "collected" ? "" : w.reference(o, r);
      let to = nodeOf.get(r.uid);
      if (!to && wrong === "dangling" && !grouped) {
        to = "missing/" + r.uid;
        if (!nodes.has(to)) {
          nodes.set(to, { id: to, type: "missing", kind: r.kind, name: r.name, x: 0, y: 0, state: "collected", objects: [o] });
        }
        if (!parent.has(o.uid)) parent.set(o.uid, to);
      }
      if (!to || grouped && to === nodeOf.get(o.uid)) continue;
      const id = `${nodeOf.get(o.uid)}>${to}`;
      const type = [wrong, r.controller && "controller", r.block && "blocking"].filter(Boolean).join(" ");
      if (!edges.has(id)) edges.set(id, { id, from: nodeOf.get(o.uid)!, to, type });
    }
  }
  for (const n of nodes.values()) {
    if (n.objects.length > 1 && n.type === "group") n.name = `${n.objects.length} objects`;
  }
  arrange(nodes, parent, apart ? (n) => n.objects[0].ns ?? "" : () => all);
  return { nodes: [...nodes.values()], edges: [...edges.values()], grouped };
}

/** all is the name for all namespaces. No namespace can have this name. */
const all = "*";

/** arrange sets the positions of the nodes, and adds a title for each namespace. */
function arrange(nodes: Map<string, Node>, parent: Map<string, string>, namespaceOf: (n: Node) => string) {
  const children = new Map<string, Node[]>(), roots = new Map<string, Node[]>();
  for (const n of nodes.values()) {
    const up = parent.get(n.id), key = up ?? namespaceOf(n), list = up ? children : roots;
    const have = list.get(key);
    if (have) have.push(n);
    else list.set(key, [n]);
  }
  const order = (a: Node, b: Node) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
  let top = 0;
  for (const ns of [...roots.keys()].sort()) {
    const title: Node = {
      id: "title/" + ns, type: "title", kind: "", name: ns === all ? "all namespaces" : ns ? "namespace " + ns : "cluster-scoped", x: 0, y: top, state: "live",
      objects: [],
    };
    top += 60;
    let left = 0, row = 0;
    const trees = roots.get(ns)!.sort(order).map((n) => {
      const root = hierarchy(n, (d) => children.get(d.id)?.sort(order));
      return { root, size: root.descendants().length };
    }).sort((a, b) => b.size - a.size);
    for (const { root } of trees) {
      wrap(root);
      tree<Node>().nodeSize([width, height]).separation(() => 1)(root as any);
      let from = Infinity, to = -Infinity, low = 0;
      root.each((d: any) => { from = Math.min(from, d.x); to = Math.max(to, d.x); low = Math.max(low, d.y); });
      if (left && left + to - from + width > rowWidth) { left = 0; top += row; row = 0; }
      root.each((d: any) => { d.data.x = left + d.x - from; d.data.y = top + d.y; });
      left += to - from + width + gap;
      row = Math.max(row, low + height);
    }
    top += row + gap;
    nodes.set(title.id, title);
  }
}

/** wrap arranges many leaves of one node in several lines, because a line of hundreds is not readable. */
function wrap(root: any) {
  root.eachAfter((d: any) => {
    const many = 8;
    if (!d.children || d.children.length <= many || d.children.some((c: any) => c.children)) return;
    const columns = Math.ceil(Math.sqrt(d.children.length * 2));
    const heads = d.children.slice(0, columns);
    d.children.slice(columns).forEach((c: any, i: number) => {
      let above = heads[i % columns];
      while (above.children) above = above.children[0];
      above.children = [c];
      c.parent = above;
      c.depth = above.depth + 1;
    });
    d.children = heads;
  });
}
