// Requests to the page's own server. A token is only kept in memory, and sent in a header.

import type { Message } from "./model";

let token = "";
export function useToken(t: string) { token = t.trim(); }

/** Failure is an error response of the server, with the message of its Status. */
export class Failure extends Error {
  constructor(readonly code: number, message: string) { super(message); }
}

async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("Accept", "application/json");
  if (init.body) headers.set("Content-Type", "application/json");
  if (token) headers.set("Authorization", "Bearer " + token);
  const res = await fetch(path, { ...init, headers, cache: "no-store", redirect: "error", credentials: "same-origin" });
  if (res.ok) return res;
  let message = `${res.status} ${res.statusText}`;
  try { message = (await res.json()).message || message; } catch { /* the body is not a Status */ }
  throw new Failure(res.status, message);
}

/** ask sends a request and decodes the response. */
export async function ask(path: string, query?: Record<string, string | undefined>, init?: RequestInit): Promise<any> {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query ?? {})) if (v) q.set(k, v);
  const res = await send(q.size ? `${path}?${q}` : path, init);
  return res.json();
}

/** The time in milliseconds after which a stream without messages counts as broken. */
const patience = 16000;

/** follow reads the stream of the graph forever. When the stream ends, it connects again. */
export async function follow(
  query: () => URLSearchParams, on: { message(m: Message): void; lost(why: string, code: number): Promise<void> },
) {
  for (;;) {
    const end = new AbortController();
    let timer = 0;
    const alive = () => { clearTimeout(timer); timer = window.setTimeout(() => end.abort(), patience); };
    let why = "the server ended the stream", code = 0;
    restart = () => end.abort();
    try {
      alive();
      const res = await send("/kubecascade/v1/graph?" + query(), { signal: end.signal });
      const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        alive();
        const lines = (rest + value).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          if (!line) continue;
          const m = JSON.parse(line) as Message;
          if (m.type === "error") why = m.error ?? why;
          on.message(m);
        }
      }
    } catch (e) {
      if (e instanceof Failure) [why, code] = [e.message, e.code];
      else why = end.signal.aborted ? "no message from the server" : "no connection";
    } finally { clearTimeout(timer); end.abort(); }
    await on.lost(why, code);
  }
}

/** restart ends the current stream. follow then connects again. */
export let restart = () => {};
