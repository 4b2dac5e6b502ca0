/* The compare tray: documents put aside, kept for this tab. */

import { byId, make } from "./dom.js";

const MOST = 20;
const name = (index) => `tray:${index}`;

export function trayOf(index) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(name(index)) || "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.id === "string") : [];
  } catch {
    return [];
  }
}

function keep(index, documents) {
  try {
    sessionStorage.setItem(name(index), JSON.stringify(documents.slice(-MOST)));
  } catch {
    /* a full or closed store: the tray lasts until the page is left */
  }
}

export function inTray(index, id) {
  return trayOf(index).some((one) => one.id === id);
}

/** Put a document in, or take it out. */
export function toggle(index, { id, title }) {
  const there = trayOf(index);
  keep(index, there.some((one) => one.id === id) ? there.filter((one) => one.id !== id) : [...there, { id, title }]);
}

/** Two documents are compared with each other, the first with the rest where there are more. */
export function compareAddress(index, documents) {
  const out = new URLSearchParams({ index });
  documents.forEach(({ id }, at) => out.append(at ? "b" : "a", `id:${id}`));
  return `/compare?${out}`;
}

export function showTray(index, changed) {
  const tray = byId("tray");
  const documents = trayOf(index);
  tray.hidden = !documents.length;
  const out = (one) => () => {
    toggle(index, one);
    changed();
  };
  const items = documents.map((one) =>
    make("li", {}, make("span", { dir: "auto" }, one.title || one.id),
      make("button", { type: "button", class: "plain", "aria-label": `Remove ${one.title || one.id}`, onclick: out(one) }, "×")));
  const more = documents.length < 2 ? make("span", { class: "muted" }, "Add another to compare") : null;
  const go = documents.length > 1 ? make("a", { class: "button primary", href: compareAddress(index, documents) }, "Compare") : null;
  tray.replaceChildren(make("ul", {}, ...items), more ?? "", go ?? "");
}
