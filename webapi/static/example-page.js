/* A plain search page: its own search, and one element for each hit. */
"use strict";
const byId = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.search);

async function fetchJson(path, body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, init);
  const read = await response.json();
  if (!response.ok) throw new Error((read.error?.problem ?? read).detail);
  return read;
}

function makeHitItem(index, query, field, hit) {
  const item = document.createElement("li");
  const title = document.createElement("h2");
  title.textContent = hit._source[field] || hit._id;
  const why = document.createElement("why-this-result");
  for (const [name, value] of Object.entries({ endpoint: "", index, query, hit: hit._id, link: "" })) why.setAttribute(name, value);
  item.append(title, why);
  return item;
}

async function showHits(index, query) {
  const { fields } = await fetchJson(`/v1/indexes/${encodeURIComponent(index)}`);
  const names = [fields.title, fields.text].filter(Boolean);
  const body = { query: { multi_match: { query, fields: names } }, size: 10, track_total_hits: true, why: false, _source: [fields.title] };
  const response = await fetchJson(`/v1/${encodeURIComponent(index)}/_search`, body);
  byId("said").textContent = `${response.hits.total.value} hits`;
  byId("hits").replaceChildren(...response.hits.hits.map((hit) => makeHitItem(index, query, fields.title, hit)));
}

async function startPage() {
  const index = parameters.get("index") || (await fetchJson("/v1/indexes")).indexes[0]?.name;
  if (!index) throw new Error("There is no index yet.");
  byId("words").value = parameters.get("q") || "";
  if (parameters.get("q")) await showHits(index, parameters.get("q"));
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const query = byId("words").value;
    history.replaceState(null, "", `?${new URLSearchParams({ index, q: query })}`);
    showHits(index, query).catch((error) => (byId("said").textContent = error.message));
  });
}

startPage().catch((error) => (byId("said").textContent = error.message));
