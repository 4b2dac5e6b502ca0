/* Facets and dates beside the results. */

import { make } from "./dom.js";

/** Make the filters. `counted`: [{field, label, buckets}]; `change(state)` is called with the new state. */
export function makeFilters(state, counted, dated, change) {
  const parts = counted.map((one) => makeFacetFilter(state, one, change));
  if (dated || state.since || state.until) parts.push(makeDateFilter(state, change));
  const set = Object.keys(state.facets).length || state.since || state.until;
  if (set) {
    const clear = () => change({ ...state, facets: {}, since: "", until: "", from: 0 });
    parts.push(make("button", { type: "button", class: "button", onclick: clear }, "Clear filters"));
  }
  return parts.filter(Boolean);
}

function makeFacetFilter(state, { field: name, label, buckets }, change) {
  const chosen = state.facets[name] || [];
  const rows = buckets.map((one) => ({ ...one, key: String(one.key_as_string ?? one.key) }));
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
  return make("fieldset", {}, make("legend", {}, label), ...boxes);
}

function makeDateFilter(state, change) {
  const field = (name, label) => {
    const input = make("input", { type: "date", value: state[name], name });
    input.addEventListener("change", () => change({ ...state, [name]: input.value, from: 0 }));
    return make("label", { class: "date" }, make("span", {}, label), input);
  };
  return make("fieldset", {}, make("legend", {}, "date"), field("since", "From"), field("until", "To"));
}
