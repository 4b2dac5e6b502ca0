/* What a search page needs to say why: its own search, and one element a hit. */
"use strict";
const find = (id) => document.getElementById(id);
const given = new URLSearchParams(location.search);

async function json(path, body) {
  const init = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, init);
  const read = await response.json();
  if (!response.ok) throw new Error(read.detail);
  return read;
}

function hitItem(index, query, field, hit) {
  const item = document.createElement("li");
  const title = document.createElement("h2");
  title.textContent = hit._source[field] || hit._id;
  const why = document.createElement("why-this-result");
  for (const [name, value] of Object.entries({ endpoint: "", index, query, hit: hit._id, link: "" })) why.setAttribute(name, value);
  item.append(title, why);
  return item;
}

async function show(index, query) {
  const { fields } = await json(`/v1/indexes/${encodeURIComponent(index)}`);
  const body = { query: { multi_match: { query } }, size: 10, why: false, _source: [fields.title] };
  const found = await json(`/v1/${encodeURIComponent(index)}/_search`, body);
  find("said").textContent = `${found.hits.total.value} hits`;
  find("hits").replaceChildren(...found.hits.hits.map((hit) => hitItem(index, query, fields.title, hit)));
}

async function begin() {
  const index = given.get("index") || (await json("/v1/indexes")).indexes[0]?.name;
  if (!index) throw new Error("There is no index yet.");
  find("words").value = given.get("q") || "";
  if (given.get("q")) await show(index, given.get("q"));
  find("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const query = find("words").value;
    history.replaceState(null, "", `?${new URLSearchParams({ index, q: query })}`);
    show(index, query).catch((error) => (find("said").textContent = error.message));
  });
}

begin().catch((error) => (find("said").textContent = error.message));
