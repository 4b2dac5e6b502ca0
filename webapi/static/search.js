/* The search page: address in, results with their reasons out. */

import { indexes, search, suggest } from "./api.js";
import { combobox } from "./combobox.js";
import { announce, byId, make, plural, trouble } from "./dom.js";
import { somePhrases } from "./examples.js";
import { about, facetLabel, shaped } from "./fields.js";
import { filters } from "./filters.js";
import { result } from "./result.js";
import { bodyOf, readAddress, writeAddress } from "./search-address.js";
import { inTray, showTray, toggle } from "./tray.js";

const SIZE = 10;
let state = readAddress();
let running = null;

function go(next, { replace = false } = {}) {
  state = next;
  writeBox();
  history[replace ? "replaceState" : "pushState"](null, "", writeAddress(state));
  show();
}

/** Only when the address changes: what somebody types meanwhile is theirs. */
function writeBox() {
  byId("q").value = state.q ?? "";
}

async function begin() {
  writeBox();
  byId("filters").open = matchMedia("(min-width: 60rem)").matches;
  wire();
  try {
    await chooseIndex();
  } catch (error) {
    byId("welcome").hidden = false;
    byId("welcome").replaceChildren(trouble(error, () => location.reload()));
  }
}

async function chooseIndex() {
  const found = await indexes();
  const select = byId("index");
  select.replaceChildren(...found.map((one) => make("option", { value: one.name }, one.name)));
  select.hidden = found.length < 2;
  if (state.index && found.every((one) => one.name !== state.index)) select.append(make("option", { value: state.index }, state.index));
  if (!state.index && found.length === 1) {
    state = { ...state, index: found[0].name };
    history.replaceState(null, "", writeAddress(state));
  }
  if (!state.index) return listIndexes(found);
  const known = found.find((one) => one.name === state.index);
  return show(known);
}

function listIndexes(found) {
  const items = found.map((one) =>
    make("li", {}, make("a", { href: `/?${new URLSearchParams({ index: one.name })}` }, one.name),
      make("small", {}, `${plural(one.documents, "document")}, ${plural(one.phrases, "phrase")}`)));
  const none = make("div", {}, make("p", {}, "There is no index yet. Make one from a file or a folder:"), make("pre", {}, make("code", {}, "phrasecom index PATH --index NAME")));
  const some = make("div", {}, make("p", {}, "Choose an index."), make("ul", { class: "cards" }, ...items));
  welcome(found.length ? "What do you want to search?" : "Nothing to search yet", found.length ? some : none);
}

function welcome(title, ...content) {
  byId("welcome").hidden = false;
  byId("columns").hidden = true;
  byId("welcome").replaceChildren(make("p", { class: "lead" }, title), ...content);
}

async function show(known) {
  document.title = state.q ? `${state.q} · PhraseCom` : "Search · PhraseCom";
  byId("index").value = state.index;
  byId("nav-compare").href = `/compare?${new URLSearchParams({ index: state.index })}`;
  showTray(state.index, changedTray);
  running?.abort();
  if (state.q === null && !Object.keys(state.facets).length && !state.since && !state.until) return landing(known);
  byId("welcome").hidden = true;
  byId("columns").hidden = false;
  byId("columns").setAttribute("aria-busy", "true");
  running = new AbortController();
  const { signal } = running;
  const patience = setTimeout(() => (byId("count").textContent = "Searching …"), 250);
  try {
    const named = await about(state.index);
    if (signal.aborted) return undefined;
    const found = await search(state.index, bodyOf(state, named, SIZE), { signal, prefer: "wait=0" });
    clearTimeout(patience);
    draw(found, named);
    narrow(found, named);
  } catch (error) {
    clearTimeout(patience);
    if (signal.aborted) return undefined;
    byId("results").replaceChildren();
    byId("pager").replaceChildren();
    byId("count").textContent = "";
    byId("trouble").replaceChildren(trouble(error, () => show()));
  } finally {
    if (!signal.aborted) byId("columns").removeAttribute("aria-busy");
  }
  return undefined;
}

/** Filters beside the results, with the counts of what was found. */
function narrow(found, named) {
  const others = Object.keys(state.facets).filter((field) => named.facets.every((facet) => facet.field !== field));
  const facets = [...named.facets, ...others.map((field) => ({ field, name: null }))];
  const counted = facets.map((facet) => ({ field: facet.field, label: facetLabel(facet), buckets: found.aggregations?.[facet.field]?.buckets || [] }));
  const dated = named.fields.date && found.hits.hits.some((hit) => shaped(hit, named).date);
  const held = document.activeElement?.closest("#facets") ? document.activeElement : null;
  byId("facets").replaceChildren(...filters(state, counted, dated, go));
  if (held?.name) byId("facets").querySelector(`[name="${CSS.escape(held.name)}"][value="${CSS.escape(held.value)}"]`)?.focus();
  byId("filters").hidden = !byId("facets").children.length;
}

function draw(found, named) {
  const { total } = found.hits;
  const hits = found.hits.hits.map((hit) => shaped(hit, named));
  const page = { state, hits, actions: { tray: put, explain }, inTray: (id) => inTray(state.index, id) };
  byId("trouble").replaceChildren();
  byId("count").replaceChildren(make("strong", {}, plural(total.value, "result")), ` in ${found.took} ms`);
  byId("against").replaceChildren(make("legend", {}, "Explain by"), ...choices(hits));
  byId("results").start = state.from + 1;
  byId("results").replaceChildren(...hits.map((_, position) => result(page, position)));
  if (!hits.length) byId("trouble").replaceChildren(nothing());
  pager(total.value);
  announce(plural(total.value, "result"));
}

function nothing() {
  const set = Object.keys(state.facets).length || state.since || state.until;
  const advice = set ? "Try fewer filters." : "Try fewer or other words; suggestions appear while you type.";
  return make("div", { class: "notice" }, make("p", {}, make("strong", {}, "Nothing found. "), advice));
}

function choices(hits) {
  const chosen = hits.find((hit) => hit.id === state.doc);
  const named = state.doc ? `“${chosen?.title || state.doc}”` : null;
  const offers = [["query", "the search"], ["page", "the rest of the page"], ...(named ? [["document", named]] : [])];
  return offers.map(([value, label]) => {
    const input = make("input", { type: "radio", name: "why", value });
    input.checked = state.why === value;
    input.addEventListener("change", () => go({ ...state, why: value }));
    return make("label", {}, input, make("span", { dir: "auto" }, label));
  });
}

function explain(hit) {
  const off = state.why === "document" && state.doc === hit.id;
  go({ ...state, doc: off ? "" : hit.id, why: off ? "query" : "document" });
}

function put(hit) {
  toggle(state.index, { id: hit.id, title: hit.title || hit.id });
  changedTray();
}

function changedTray() {
  showTray(state.index, changedTray);
  for (const button of document.querySelectorAll("[data-tray]")) {
    const there = inTray(state.index, button.dataset.tray);
    button.setAttribute("aria-pressed", String(there));
    button.textContent = there ? "In the tray" : "Compare";
    button.setAttribute("aria-label", `${button.textContent}: ${button.closest(".result").querySelector("h2").textContent}`);
  }
}

function pager(total) {
  const link = (from, label, rel) => {
    const address = writeAddress({ ...state, from });
    const made = make("a", { href: address, rel, class: "button" }, label);
    made.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      go({ ...state, from });
      byId("main").focus();
      scrollTo(0, 0);
    });
    return made;
  };
  const parts = [];
  if (state.from > 0) parts.push(link(Math.max(0, state.from - SIZE), "← Previous", "prev"));
  if (total > SIZE) parts.push(make("span", { class: "muted" }, `${state.from + 1}–${Math.min(state.from + SIZE, total)} of ${total.toLocaleString()}`));
  if (state.from + SIZE < Math.min(total, 10000)) parts.push(link(state.from + SIZE, "Next →", "next"));
  byId("pager").replaceChildren(...parts);
}

/** The page before the first search: what there is, and something to try. */
async function landing(known) {
  const size = known ? `${plural(known.documents, "document")}, ${plural(known.phrases, "phrase")}` : "";
  const tries = make("p", { class: "tries" });
  const all = make("a", { href: writeAddress({ ...state, q: "" }) }, "See all documents");
  welcome("Search, and see why each result is there.", make("p", { class: "muted" }, size), tries, make("p", {}, all), legend());
  byId("q").focus();
  const phrases = await somePhrases(state.index, 6);
  const links = phrases.map((one) => make("a", { class: "try", href: writeAddress({ ...state, q: one.display }), dir: "auto" }, one.display));
  if (links.length) tries.replaceChildren(make("span", { class: "muted" }, "Try "), ...links);
}

const MARKS = [
  ["shared", "=", "Shared", "Both say it: the result and your search, or two documents."],
  ["implied", "≈", "Implied", "Only one says it; documents near both connect it to the other."],
  ["distinct", "+", "Distinct", "What sets a result apart from the rest."],
];

function legend() {
  const cards = MARKS.map(([kind, sign, name, text]) =>
    make("li", {}, make("span", { class: `sign ${kind}`, "aria-hidden": "true" }, sign), make("strong", {}, name), make("span", { class: "muted" }, text)));
  return make("ul", { class: "legend" }, ...cards);
}

function wire() {
  const submit = (q) => go({ ...readAddress(), index: byId("index").value || state.index, q, from: 0, doc: "", why: state.why === "document" ? "query" : state.why });
  const look = async (typed, signal) => (await suggest(state.index, typed, 8, { signal })).map((one) => ({ value: one.display, label: one.display, note: one.documents.toLocaleString() }));
  const box = combobox(byId("q"), byId("suggestions"), look, (option) => submit(option.value), "Phrases of the index");
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    box.close();
    submit(byId("q").value);
  });
  byId("index").addEventListener("change", () => {
    go({ ...state, index: byId("index").value, facets: {}, since: "", until: "", from: 0, doc: "", why: "query" });
  });
  addEventListener("popstate", () => {
    state = readAddress();
    writeBox();
    if (state.index) show();
    else chooseIndex();
  });
}

begin();
