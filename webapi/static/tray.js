/* The compare tray: documents selected for comparison, stored for this tab. */

import { byId, make } from "./dom.js";

const MAX_DOCUMENTS = 20;
const makeStorageKey = (index) => `tray:${index}`;

export function readTray(index) {
  try {
    const documents = JSON.parse(sessionStorage.getItem(makeStorageKey(index)) || "[]");
    return Array.isArray(documents) ? documents.filter((one) => typeof one?.id === "string") : [];
  } catch {
    return [];
  }
}

function writeTray(index, documents) {
  try {
    sessionStorage.setItem(makeStorageKey(index), JSON.stringify(documents.slice(-MAX_DOCUMENTS)));
  } catch {
    /* a full or closed store: the tray lasts until the page is left */
  }
}

export function isInTray(index, id) {
  return readTray(index).some((one) => one.id === id);
}

/** Add a document to the tray, or remove it. */
export function toggleInTray(index, { id, title }) {
  const there = readTray(index);
  writeTray(index, there.some((one) => one.id === id) ? there.filter((one) => one.id !== id) : [...there, { id, title }]);
}

/** Return the address that compares two documents, or the first of several with the rest. */
export function makeCompareAddress(index, documents) {
  const out = new URLSearchParams({ index });
  documents.forEach(({ id }, at) => out.append(at ? "b" : "a", `id:${id}`));
  return `/compare?${out}`;
}

export function drawTray(index, changed) {
  const tray = byId("tray");
  const documents = readTray(index);
  tray.hidden = !documents.length;
  const out = (one) => () => {
    toggleInTray(index, one);
    changed();
  };
  const items = documents.map((one) =>
    make("li", {}, make("span", { dir: "auto" }, one.title || one.id),
      make("button", { type: "button", class: "plain", "aria-label": `Remove ${one.title || one.id}`, onclick: out(one) }, "×")));
  const more = documents.length < 2 ? make("span", { class: "muted" }, "Add another to compare") : null;
  const go = documents.length > 1 ? make("a", { class: "button primary", href: makeCompareAddress(index, documents) }, "Compare") : null;
  tray.replaceChildren(make("ul", {}, ...items), more ?? "", go ?? "");
}
