// All elements of this page are made here: strings become text, never markup.

type Child = Node | string | number | false | null | undefined;
type Attributes = Record<string, string | number | boolean | undefined | ((e: any) => void)>;

/** h makes an element. Attributes that begin with "on" are listeners. A boolean sets or omits an attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== undefined && value !== false) e.setAttribute(name, String(value));
  }
  fill(e, ...children);
  return e;
}

/** visible replaces invisible characters that change the text around them by their numbers. Names may contain them. */
export function visible(s: string): string {
  return s.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** fill replaces the content of an element. If an element with the same data-uid or id had the focus, it keeps it. */
export function fill(e: Element, ...children: (Child | Child[])[]) {
  const had = document.activeElement as HTMLElement | null;
  const inside = had !== null && had !== e && e.contains(had), uid = had?.dataset.uid, id = had?.id;
  const nodes: (Node | string)[] = [];
  for (const c of children.flat()) {
    if (c === false || c === null || c === undefined) continue;
    nodes.push(c instanceof Node ? c : visible(String(c)));
  }
  e.replaceChildren(...nodes);
  if (!inside || !(uid || id) || e.contains(document.activeElement)) return;
  for (const b of e.querySelectorAll<HTMLElement>(uid ? "[data-uid]" : "[id]")) {
    if (uid ? b.dataset.uid === uid : b.id === id) return b.focus({ preventScroll: true });
  }
}

/** ago formats a duration, for example as 3m. */
export function ago(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m`;
  if (s < 172800) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}

/** later returns a function that schedules one call of f after ms milliseconds, unless a call is already scheduled. */
export function later(ms: number, f: () => void): () => void {
  let timer = 0;
  return () => {
    if (timer) return;
    timer = window.setTimeout(() => { timer = 0; f(); }, ms);
  };
}
