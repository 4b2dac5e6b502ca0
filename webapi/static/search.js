/* The search page: reads its state from the address and shows results with reasons. */

import { listIndexes, searchIndex, suggestPhrases } from "./api.js";
import { attachCombobox } from "./combobox.js";
import { announce, byId, formatCount, make, makeErrorNotice } from "./dom.js";
import { makeFilters } from "./filters.js";
import { describeIndex, getFacetLabel, toResult } from "./index-fields.js";
import { buildSearchBody, canSearchByMeaning, readAddress, writeAddress } from "./search-address.js";
import { makeResult } from "./search-result.js";
import { samplePhrases } from "./suggested-comparisons.js";
import { drawTray, isInTray, toggleInTray } from "./tray.js";

const PAGE_SIZE = 10;
const REASONS_SECONDS = 1; // that the results wait for their reasons, so as not to replace provisional ones
let state = readAddress();
let running = null;

function changeState(next, { replace = false } = {}) {
  state = next;
  fillSearchBox();
  history[replace ? "replaceState" : "pushState"](null, "", writeAddress(state));
  showResults();
}

/** Call it only when the address changes, so as not to overwrite what is being typed. */
function fillSearchBox() {
  byId("q").value = state.q ?? "";
}

async function startPage() {
  fillSearchBox();
  byId("filters").open = matchMedia("(min-width: 60rem)").matches;
  addListeners();
  try {
    await chooseIndex();
  } catch (error) {
    byId("welcome").hidden = false;
    byId("welcome").replaceChildren(makeErrorNotice(error, () => location.reload()));
  }
}

async function chooseIndex() {
  const indexes = await listIndexes();
  const select = byId("index");
  select.replaceChildren(...indexes.map(({ name }) => make("option", { value: name }, name)));
  select.hidden = indexes.length < 2;
  if (state.index && indexes.every(({ name }) => name !== state.index)) select.append(make("option", { value: state.index }, state.index));
  if (!state.index && indexes.length === 1) {
    state = { ...state, index: indexes[0].name };
    history.replaceState(null, "", writeAddress(state));
  }
  if (!state.index) return showIndexList(indexes);
  return showResults(indexes.find(({ name }) => name === state.index));
}

function showIndexList(indexes) {
  const items = indexes.map((index) =>
    make("li", {}, make("a", { href: `/?${new URLSearchParams({ index: index.name })}` }, index.name),
      make("small", {}, `${formatCount(index.documents, "document")}, ${formatCount(index.phrases, "phrase")}`)));
  const none = make("div", {}, make("p", {}, "There is no index yet. Build one from a file or a folder:"), make("pre", {}, make("code", {}, "phrasecom index PATH --index NAME")));
  const choice = make("div", {}, make("p", {}, "Choose an index."), make("ul", { class: "cards" }, ...items));
  showWelcome(indexes.length ? "What do you want to search?" : "Nothing to search yet", indexes.length ? choice : none);
}

function showWelcome(title, ...content) {
  byId("welcome").hidden = false;
  byId("columns").hidden = true;
  byId("welcome").replaceChildren(make("p", { class: "lead" }, title), ...content);
}

async function showResults(info) {
  document.title = state.q ? `${state.q} · PhraseCom` : "Search · PhraseCom";
  byId("index").value = state.index;
  byId("nav-compare").href = `/compare?${new URLSearchParams({ index: state.index })}`;
  drawTray(state.index, refreshTray);
  running?.abort();
  if (state.q === null && !Object.keys(state.facets).length && !state.since && !state.until) return showLandingPage(info);
  byId("welcome").hidden = true;
  byId("columns").hidden = false;
  byId("columns").setAttribute("aria-busy", "true");
  running = new AbortController();
  const { signal } = running;
  const patience = setTimeout(() => (byId("count").textContent = "Searching …"), 250);
  try {
    const description = await describeIndex(state.index);
    if (signal.aborted) return undefined;
    const response = await searchIndex(state.index, buildSearchBody(state, description, PAGE_SIZE), { signal, prefer: `wait=${REASONS_SECONDS}` });
    clearTimeout(patience);
    drawResults(response, description);
    drawFilters(response, description);
  } catch (error) {
    clearTimeout(patience);
    if (signal.aborted) return undefined;
    byId("results").replaceChildren();
    byId("pager").replaceChildren();
    byId("count").textContent = "";
    byId("trouble").replaceChildren(makeErrorNotice(error, () => showResults()));
  } finally {
    if (!signal.aborted) byId("columns").removeAttribute("aria-busy");
  }
  return undefined;
}

/** Draw the filters beside the results, with the counts of this search. */
function drawFilters(response, description) {
  const others = Object.keys(state.facets).filter((field) => description.facets.every((facet) => facet.field !== field));
  const facets = [...description.facets, ...others.map((field) => ({ field, name: null }))];
  const counted = facets.map((facet) => ({ field: facet.field, label: getFacetLabel(facet), buckets: response.aggregations?.[facet.field]?.buckets || [] }));
  const dated = description.fields.date && response.hits.hits.some((hit) => toResult(hit, description).date);
  const focused = document.activeElement?.closest("#facets") ? document.activeElement : null;
  byId("facets").replaceChildren(...makeFilters(state, counted, dated, changeState));
  if (focused?.name) byId("facets").querySelector(`[name="${CSS.escape(focused.name)}"][value="${CSS.escape(focused.value)}"]`)?.focus();
  byId("filters").hidden = !byId("facets").children.length;
}

function drawResults(response, description) {
  const { total } = response.hits;
  const hits = response.hits.hits.map((hit) => toResult(hit, description));
  const page = { state, hits, actions: { tray: toggleHitInTray, explain: explainByHit }, inTray: (id) => isInTray(state.index, id) };
  byId("trouble").replaceChildren();
  byId("count").replaceChildren(make("strong", {}, formatCount(total.value, "result")), ` in ${response.took} ms`);
  drawByChoices(description);
  byId("against").replaceChildren(make("legend", {}, "Compare with"), ...makeAgainstChoices(hits));
  byId("results").start = state.from + 1;
  byId("results").replaceChildren(...hits.map((_, position) => makeResult(page, position)));
  if (!hits.length) byId("trouble").replaceChildren(makeEmptyNotice(description));
  drawPager(total.value);
  announce(formatCount(total.value, "result"));
}

function makeEmptyNotice(description) {
  const set = Object.keys(state.facets).length || state.since || state.until;
  const other = canSearchByMeaning(description) && state.by !== "both" ? "Search by words and meaning, or try other words." : "Try fewer or different words; suggestions appear as you type.";
  const advice = set ? "Try fewer filters." : other;
  return make("div", { class: "notice" }, make("p", {}, make("strong", {}, "Nothing found. "), advice));
}

/** Draw what the words of the query find documents by, where there is a choice. */
function drawByChoices(description) {
  const field = byId("by");
  field.hidden = !canSearchByMeaning(description) || !(state.q || "").trim();
  const offers = [["words", "words"], ["meaning", "meaning"], ["both", "both"]];
  field.replaceChildren(make("legend", {}, "Search by"), ...makeRadios("by", offers, state.by, (by) => changeState({ ...state, by, from: 0 })));
}

/** Make a radio button for each [value, label]. */
function makeRadios(name, offers, chosen, choose) {
  return offers.map(([value, label]) => {
    const input = make("input", { type: "radio", name, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => choose(value));
    return make("label", {}, input, make("span", { dir: "auto" }, label));
  });
}

function makeAgainstChoices(hits) {
  const chosen = hits.find((hit) => hit.id === state.doc);
  const named = state.doc ? `“${chosen?.title || state.doc}”` : null;
  const offers = [["query", "the query"], ["page", "the rest of the page"], ...(named ? [["document", named]] : [])];
  return makeRadios("why", offers, state.why, (why) => changeState({ ...state, why }));
}

function explainByHit(hit) {
  const off = state.why === "document" && state.doc === hit.id;
  changeState({ ...state, doc: off ? "" : hit.id, why: off ? "query" : "document" });
}

function toggleHitInTray(hit) {
  toggleInTray(state.index, { id: hit.id, title: hit.title || hit.id });
  refreshTray();
}

function refreshTray() {
  drawTray(state.index, refreshTray);
  for (const button of document.querySelectorAll("[data-tray]")) {
    const there = isInTray(state.index, button.dataset.tray);
    button.setAttribute("aria-pressed", String(there));
    button.textContent = there ? "In the tray" : "Compare";
    button.setAttribute("aria-label", `${button.textContent}: ${button.closest(".result").querySelector("h2").textContent}`);
  }
}

function drawPager(total) {
  const link = (from, label, rel) => {
    const address = writeAddress({ ...state, from });
    const made = make("a", { href: address, rel, class: "button" }, label);
    made.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      changeState({ ...state, from });
      byId("main").focus();
      scrollTo(0, 0);
    });
    return made;
  };
  const parts = [];
  if (state.from > 0) parts.push(link(Math.max(0, state.from - PAGE_SIZE), "← Previous", "prev"));
  if (total > PAGE_SIZE) parts.push(make("span", { class: "muted" }, `${state.from + 1}–${Math.min(state.from + PAGE_SIZE, total)} of ${total.toLocaleString()}`));
  if (state.from + PAGE_SIZE < Math.min(total, 10000)) parts.push(link(state.from + PAGE_SIZE, "Next →", "next"));
  byId("pager").replaceChildren(...parts);
}

/** Show the page before the first search: the size of the index, and phrases to try. */
async function showLandingPage(info) {
  const size = info ? `${formatCount(info.documents, "document")}, ${formatCount(info.phrases, "phrase")}` : "";
  const tries = make("p", { class: "tries" });
  const all = make("a", { href: writeAddress({ ...state, q: "" }) }, "See all documents");
  showWelcome("Search, and see the reasons for each result.", make("p", { class: "muted" }, size), tries, make("p", {}, all), makeLegend());
  byId("q").focus();
  const phrases = await samplePhrases(state.index, 6);
  const links = phrases.map((one) => make("a", { class: "try", href: writeAddress({ ...state, q: one.display }), dir: "auto" }, one.display));
  if (links.length) tries.replaceChildren(make("span", { class: "muted" }, "Try "), ...links);
}

const MARKS = [
  ["shared", "=", "Shared", "Both contain it: the result and your query, or two documents."],
  ["implied", "≈", "Implied", "Only one contains it; related documents or its meaning connect it to the other."],
  ["distinct", "+", "Distinct", "It sets a result apart from the rest."],
];

function makeLegend() {
  const cards = MARKS.map(([kind, sign, name, text]) =>
    make("li", {}, make("span", { class: `sign ${kind}`, "aria-hidden": "true" }, sign), make("strong", {}, name), make("span", { class: "muted" }, text)));
  return make("ul", { class: "legend" }, ...cards);
}

function addListeners() {
  const submit = (q) => changeState({ ...readAddress(), index: byId("index").value || state.index, q, from: 0, doc: "", why: state.why === "document" ? "query" : state.why });
  const findOptions = async (typed, signal) => (await suggestPhrases(state.index, typed, 8, { signal })).map((one) => ({ value: one.display, label: one.display, note: one.documents.toLocaleString() }));
  const box = attachCombobox(byId("q"), byId("suggestions"), findOptions, (option) => submit(option.value), "Phrases of the index");
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    box.close();
    submit(byId("q").value);
  });
  byId("index").addEventListener("change", () => {
    changeState({ ...state, index: byId("index").value, facets: {}, since: "", until: "", from: 0, doc: "", why: "query" });
  });
  addEventListener("popstate", () => {
    state = readAddress();
    fillSearchBox();
    if (state.index) showResults();
    else chooseIndex();
  });
}

startPage();
