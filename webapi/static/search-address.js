/* The address of the search page, which holds its whole state, and the search body made from it. */

import { matchWords } from "./index-fields.js";

const NEAREST = 50; // documents found by meaning, at most: five pages

/** Read {index, q, by, from, facets: {name: [values]}, since, until, why, doc} from the address. */
export function readAddress(query = location.search) {
  const parameters = new URLSearchParams(query);
  const facets = {};
  for (const one of parameters.getAll("f")) {
    const colon = one.indexOf(":");
    if (colon > 0) (facets[one.slice(0, colon)] ??= []).push(one.slice(colon + 1));
  }
  const why = parameters.get("why");
  const by = parameters.get("by");
  return {
    index: parameters.get("index") || "",
    q: parameters.get("q") ?? null,
    by: ["words", "meaning"].includes(by) ? by : "both",
    from: Math.min(Math.max(0, parseInt(parameters.get("from"), 10) || 0), 9990),
    facets,
    since: parseDay(parameters.get("since")),
    until: parseDay(parameters.get("until")),
    doc: parameters.get("doc") || "",
    why: ["query", "page", "document"].includes(why) ? why : "query",
  };
}

const parseDay = (written) => (/^\d{4}-\d{2}-\d{2}$/.test(written || "") ? written : "");

export function writeAddress(state) {
  const out = new URLSearchParams();
  if (state.index) out.set("index", state.index);
  if (state.q !== null) out.set("q", state.q);
  for (const [name, values] of Object.entries(state.facets)) for (const value of values) out.append("f", `${name}:${value}`);
  for (const name of ["since", "until", "doc"]) if (state[name]) out.set(name, state[name]);
  if (state.by !== "both") out.set("by", state.by);
  if (state.why !== "query") out.set("why", state.why);
  if (state.from) out.set("from", state.from);
  return `/?${out}`;
}

/** Return whether an index finds documents by the meaning of a text. */
export const canSearchByMeaning = (description) => Boolean(description.searched_by?.includes("meaning"));

/** Return the search body, with the index's own names of its fields. */
export function buildSearchBody(state, description, size) {
  const { fields, facets } = description;
  const filter = Object.entries(state.facets).map(([name, values]) => ({ terms: { [name]: values } }));
  const range = {};
  if (state.since) range.gte = state.since;
  if (state.until) range.lte = state.until;
  if (Object.keys(range).length) filter.push({ range: { [fields.date ?? "date"]: range } });
  const words = (state.q || "").trim();
  const meaning = Boolean(words) && canSearchByMeaning(description) && state.by !== "words";
  const must = words && !(meaning && state.by === "meaning") ? [matchWords(words, description)] : [];
  const body = { query: { bool: { must, filter } }, size, from: state.from, track_total_hits: true };
  if (!must.length && !filter.length) body.query = { match_all: {} };
  if (meaning) body.knn = { field: "vector", query_vector_builder: { text_embedding: { model_id: "phrasecom", model_text: words } }, k: NEAREST };
  if (fields.text) body.highlight = { fields: { [fields.text]: {} }, pre_tags: ["\ue000"], post_tags: ["\ue001"] }; // private-use characters, which no text contains
  if (facets.length) body.aggs = Object.fromEntries(facets.map(({ field }) => [field, { terms: { field, size: 12 } }]));
  return body;
}
