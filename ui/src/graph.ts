// Draws a picture with cytoscape.

import cytoscape from "cytoscape";
import { visible } from "./dom";
import type { Picture } from "./layout";

const light = {
  text: "#1b2430", back: "#ffffff", line: "#6b7a8c", live: "#2f6fd0", deleting: "#b45309", blocked: "#b91c1c",
  orphaned: "#7c3aed", collected: "#9aa5b1", fill: "#eef4fd", warn: "#fff3e0", stop: "#fde8e8", alone: "#f3ecfe", gone: "#f4f5f6",
  select: "#0b57d0",
};
const dark = {
  text: "#e6edf5", back: "#12171e", line: "#8896a6", live: "#6ea8fe", deleting: "#fbbf24", blocked: "#ff8080",
  orphaned: "#c4a5ff", collected: "#6b7785", fill: "#1b2636", warn: "#3a2c12", stop: "#3d1c1f", alone: "#2a2140", gone: "#1a1f26",
  select: "#a8c7fa",
};

function styles(dim: boolean): any[] {
  const c = dim ? dark : light;
  const state = (name: string, line: string, fill: string, style: string, wide: number) => ({
    selector: `node.${name}`,
    style: { "border-color": line, "background-color": fill, "border-style": style, "border-width": wide },
  });
  return [
    { selector: "node", style: {
      shape: "round-rectangle", width: 156, height: 46, label: "data(label)", "text-wrap": "wrap", "text-valign": "center",
      "text-halign": "center", "font-size": 12, "font-family": "system-ui, sans-serif", "line-height": 1.25, color: c.text,
      "min-zoomed-font-size": 5, "transition-property": "opacity", "transition-duration": 300,
    } },
    state("live", c.live, c.fill, "solid", 1.5),
    state("deleting", c.deleting, c.warn, "dashed", 2.5),
    state("blocked", c.blocked, c.stop, "double", 5),
    state("orphaned", c.orphaned, c.alone, "dotted", 2.5),
    state("collected", c.collected, c.gone, "dashed", 1),
    { selector: "node.collected", style: { opacity: 0.45 } },
    { selector: "node.group", style: { "font-weight": "bold" } },
    { selector: "node.missing", style: { shape: "cut-rectangle", opacity: 0.8, "border-color": c.blocked } },
    { selector: "node.title", style: {
      shape: "rectangle", "background-opacity": 0, "border-width": 0, "font-size": 16, "font-weight": "bold", color: c.line,
      width: 156, height: 30, "text-halign": "right", "text-margin-x": -156, events: "no", "min-zoomed-font-size": 6,
    } },
    { selector: "edge", style: {
      width: 1.2, "line-color": c.line, "target-arrow-color": c.line, "target-arrow-shape": "triangle", "arrow-scale": 0.9,
      "curve-style": "bezier",
    } },
    { selector: "edge.controller", style: { width: 2.4 } },
    { selector: "edge.blocking", style: { "source-arrow-shape": "square", "source-arrow-color": c.line } },
    { selector: "edge.dangling", style: { "line-style": "dashed", "line-color": c.blocked, "target-arrow-color": c.blocked, "target-arrow-shape": "tee" } },
    { selector: "edge.namespace", style: { "line-style": "dotted", "line-color": c.deleting, "target-arrow-color": c.deleting, width: 2.4 } },
    { selector: ".found", style: { "border-width": 4, "border-color": c.select, "border-style": "solid" } },
    { selector: "node:selected", style: { "border-width": 4, "border-color": c.select, "border-style": "solid", "overlay-color": c.select, "overlay-opacity": 0.12 } },
  ];
}

const short = (s: string) => (s.length > 22 ? s.slice(0, 10) + "…" + s.slice(-11) : s);

export class Graph {
  private cy: cytoscape.Core;
  private signature = "";
  /** moved reports whether the user has moved or zoomed the graph. */
  private moved = false;

  constructor(readonly box: HTMLElement, select: (id: string | null) => void) {
    this.cy = cytoscape({
      container: box, style: styles(false), layout: { name: "preset" }, minZoom: 0.03, maxZoom: 2.5, boxSelectionEnabled: false,
      autoungrabify: true, textureOnViewport: true, hideEdgesOnViewport: false, selectionType: "single",
    } as any);
    this.cy.on("tap", "node", (e) => select(e.target.id()));
    this.cy.on("tap", (e) => { if (e.target === this.cy) select(null); });
    for (const name of ["wheel", "mousedown", "touchstart"]) {
      box.addEventListener(name, () => { this.moved = true; }, { capture: true, passive: true });
    }
    new ResizeObserver(() => { this.cy.resize(); if (!this.moved) this.fit(); }).observe(box);
  }

  theme(dim: boolean) { this.cy.style(styles(dim) as any); }

  /** draw displays a picture: it adds new elements, and removes elements that are not in the picture. */
  draw(p: Picture, selected: string | null, found: Set<string>) {
    const cy = this.cy;
    const ids = new Set([...p.nodes.map((n) => n.id), ...p.edges.map((e) => e.id)]);
    cy.batch(() => {
      cy.elements().forEach((e) => { if (!ids.has(e.id())) e.remove(); });
      for (const n of p.nodes) {
        const label = visible(n.type === "title" ? n.name : `${n.kind}${n.state === "live" || n.type === "missing" ? "" : " · " + n.state}` +
          `${n.type === "missing" ? " · missing" : ""}\n${short(n.name)}`);
        const classes = [n.type, n.type === "title" ? "" : n.state, found.has(n.id) ? "found" : ""].join(" ");
        const e = cy.getElementById(n.id);
        if (e.nonempty()) {
          if (e.data("label") !== label) e.data("label", label);
          e.classes(classes);
          const at = e.position();
          if (at.x !== n.x || at.y !== n.y) e.position({ x: n.x, y: n.y });
        } else {
          cy.add({ group: "nodes", data: { id: n.id, label }, position: { x: n.x, y: n.y }, classes, selectable: n.type !== "title" });
        }
      }
      for (const d of p.edges) {
        const e = cy.getElementById(d.id);
        if (e.nonempty()) e.classes(d.type);
        else cy.add({ group: "edges", data: { id: d.id, source: d.from, target: d.to }, classes: d.type, selectable: false });
      }
      cy.nodes(":selected").forEach((e) => { if (e.id() !== selected) e.unselect(); });
      if (selected) cy.getElementById(selected).select();
    });
    const signature = p.nodes.map((n) => n.id).sort().join();
    if (signature !== this.signature && !this.moved) this.fit();
    this.signature = signature;
  }

  /** fit zooms to the whole graph, up to a limit. */
  fit() {
    this.moved = false;
    if (this.cy.elements().empty()) return;
    this.cy.fit(undefined, 30);
    if (this.cy.zoom() > 1.1) { this.cy.zoom(1.1); this.cy.center(); }
  }

  /** reveal moves the view to a node that is not visible. */
  reveal(id: string) {
    const e = this.cy.getElementById(id);
    if (e.empty()) return;
    const b = e.renderedBoundingBox(), { clientWidth: w, clientHeight: h } = this.box;
    if (this.cy.zoom() < 0.5) { this.cy.zoom(0.8); this.cy.center(e); }
    else if (b.x1 < 0 || b.y1 < 0 || b.x2 > w || b.y2 > h) this.cy.center(e);
  }

  zoom(by: number) {
    this.moved = true;
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 } });
  }

  /** lines returns the types of the edges. Only tests call it. */
  lines(): string[] { return this.cy.edges().map((e) => (e.classes() as unknown as string[]).join(" ")).sort(); }

  /** place returns the position of a node in the box. Only tests call it. */
  place(id: string) { return this.cy.getElementById(id).renderedPosition(); }
}
