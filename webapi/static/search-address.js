/* What the search page shows is in its address, all of it. */

/** {index, q, from, facets: {name: [values]}, since, until, why, doc} */
export function readAddress(query = location.search) {
  const given = new URLSearchParams(query);
  const facets = {};
  for (const one of given.getAll("f")) {
    const colon = one.indexOf(":");
    if (colon > 0) (facets[one.slice(0, colon)] ??= []).push(one.slice(colon + 1));
  }
  const why = given.get("why");
  return {
    index: given.get("index") || "",
    q: given.get("q") ?? null,
    from: Math.min(Math.max(0, parseInt(given.get("from"), 10) || 0), 9990),
    facets,
    since: day(given.get("since")),
    until: day(given.get("until")),
    doc: given.get("doc") || "",
    why: ["query", "page", "document"].includes(why) ? why : "query",
  };
}

const day = (written) => (/^\d{4}-\d{2}-\d{2}$/.test(written || "") ? written : "");

export function writeAddress(state) {
  const out = new URLSearchParams();
  if (state.index) out.set("index", state.index);
  if (state.q !== null) out.set("q", state.q);
  for (const [name, values] of Object.entries(state.facets)) for (const value of values) out.append("f", `${name}:${value}`);
  for (const name of ["since", "until", "doc"]) if (state[name]) out.set(name, state[name]);
  if (state.why !== "query") out.set("why", state.why);
  if (state.from) out.set("from", state.from);
  return `/?${out}`;
}

/** The search as the API takes it, in the names that the index has for its fields. */
export function bodyOf(state, { fields, facets }, size) {
  const filter = Object.entries(state.facets).map(([name, values]) => ({ terms: { [name]: values } }));
  const range = {};
  if (state.since) range.gte = state.since;
  if (state.until) range.lte = state.until;
  if (Object.keys(range).length) filter.push({ range: { [fields.date ?? "date"]: range } });
  const words = (state.q || "").trim();
  const must = words ? [{ multi_match: { query: words } }] : [];
  const body = { query: { bool: { must, filter } }, size, from: state.from };
  if (!must.length && !filter.length) body.query = { match_all: {} };
  if (fields.text) body.highlight = { fields: { [fields.text]: {} }, pre_tags: ["\ue000"], post_tags: ["\ue001"] }; // no text holds these
  if (facets.length) body.aggs = Object.fromEntries(facets.map(({ field }) => [field, { terms: { field, size: 12 } }]));
  return body;
}
