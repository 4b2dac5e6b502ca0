/* Facets and dates beside the results. */

import { make } from "./dom.js";

/** Names of facets: fields of the hits that hold lists of words. */
export function facetNames(hits) {
  const found = new Set();
  for (const hit of hits) {
    for (const [name, value] of Object.entries(hit._source || {})) {
      const words = Array.isArray(value) && value.length && value.every((one) => typeof one === "string");
      if (words && name !== "title" && name !== "text") found.add(name);
    }
  }
  return [...found].sort().slice(0, 8);
}

/** `change(state)` hears what the reader asks for. */
export function filters(state, buckets, dated, change) {
  const parts = Object.entries(buckets).map(([name, found]) => facet(state, name, found, change));
  if (dated || state.since || state.until) parts.push(dates(state, change));
  const set = Object.keys(state.facets).length || state.since || state.until;
  if (set) {
    const clear = () => change({ ...state, facets: {}, since: "", until: "", from: 0 });
    parts.push(make("button", { type: "button", class: "button", onclick: clear }, "Clear filters"));
  }
  return parts.filter(Boolean);
}

function facet(state, name, found, change) {
  const chosen = state.facets[name] || [];
  const rows = [...found];
  for (const value of chosen) if (!rows.some((row) => row.key === value)) rows.push({ key: value, doc_count: 0 });
  if (!rows.length) return null;
  const boxes = rows.map((row) => {
    const box = make("input", { type: "checkbox", name, value: row.key });
    box.checked = chosen.includes(row.key);
    box.addEventListener("change", () => {
      const values = box.checked ? [...chosen, row.key] : chosen.filter((one) => one !== row.key);
      const facets = { ...state.facets, [name]: values };
      if (!values.length) delete facets[name];
      change({ ...state, facets, from: 0 });
    });
    return make("label", { class: "tick" }, box, make("span", { dir: "auto" }, row.key), make("small", {}, row.doc_count.toLocaleString()));
  });
  return make("fieldset", {}, make("legend", {}, name), ...boxes);
}

function dates(state, change) {
  const field = (name, label) => {
    const input = make("input", { type: "date", value: state[name], name });
    input.addEventListener("change", () => change({ ...state, [name]: input.value, from: 0 }));
    return make("label", { class: "date" }, make("span", {}, label), input);
  };
  return make("fieldset", {}, make("legend", {}, "date"), field("since", "From"), field("until", "To"));
}
