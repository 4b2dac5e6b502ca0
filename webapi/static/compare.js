/* The compare page: reads its state from the address, shows the comparison, and writes every change back. */

import { leaveComparison, listIndexes, requestComparison } from "./api.js";
import { formatSideTitle, readView, splitSearch, writeView } from "./compare-address.js";
import { announce, byId, copyText, formatCount, make, makeErrorNotice } from "./dom.js";
import { NeighbourhoodGraph } from "./graph.js";
import { formatMarkdown } from "./markdown-report.js";
import { PhraseColumns } from "./phrase-columns.js";
import { findQuerySide, nameOtherSide, prepareAnswer } from "./query-comparison.js";
import { countFacetValues, SideField } from "./side-form.js";
import { SideTexts } from "./side-texts.js";
import { makeSuggestions } from "./suggested-comparisons.js";

const CAP = 30;
const LEAD = "Compare two documents, two periods, or a pasted text with documents: what both are about, and what sets each apart.";

let view = readView();
let fields = null;
let running = null;
let shown = null;
let turns = 0;

function buildRequest(more = {}) {
  const { index, a, b, method, preset } = view;
  return { index, a, b, method, preset, options: { cap: CAP, ...more } };
}

/** Change the view and the address; `reload` when another comparison is needed. */
function changeView(change, { reload = false, push = true } = {}) {
  view = { ...view, ...change };
  history[push ? "pushState" : "replaceState"](null, "", writeView(view));
  if (reload) loadPage();
}

async function loadPage() {
  const turn = (turns += 1);
  running?.abort();
  byId("answer").hidden = true;
  for (const part of ["state", "board", "texts", "drawing"]) byId(part).replaceChildren();
  shown = null;
  try {
    await drawForm();
  } catch (error) {
    if (turn === turns) byId("state").replaceChildren(makeErrorNotice(error, loadPage));
    return;
  }
  if (turn !== turns) return; // another view was chosen meanwhile
  if (view.a && view.b && view.index) await runComparison();
  else {
    byId("asking").open = true;
    byId("asked").textContent = "Choose what to compare";
    byId("state").replaceChildren(make("p", { class: "muted" }, LEAD));
    await showSuggestions(turn);
  }
}

/** Suggest comparisons where none is chosen yet. */
async function showSuggestions(turn) {
  const index = byId("index").value;
  const suggestions = index ? await makeSuggestions(index, fields.a.facets).catch(() => null) : null; // the page works without
  if (suggestions && turn === turns) byId("state").append(suggestions);
}

async function drawForm() {
  const indexes = await listIndexes();
  if (!view.index && indexes.length === 1) changeView({ index: indexes[0].name }, { push: false });
  const names = [...new Set([...indexes.map((index) => index.name), ...(view.index ? [view.index] : [])])];
  const select = byId("index");
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  select.value = view.index || names[0] || "";
  byId("which").hidden = names.length < 2;
  byId("nav-search").href = `/?${new URLSearchParams(view.index ? { index: view.index } : {})}`;
  const facets = select.value ? countFacetValues(select.value).catch(() => []) : Promise.resolve([]);
  fields = { a: new SideField("A", view.a, () => select.value, facets), b: new SideField("B", view.b, () => select.value, facets) };
  byId("sides").replaceChildren(fields.a.node, fields.b.node);
}

async function runComparison() {
  byId("asking").open = false;
  running = new AbortController();
  const { signal } = running;
  const progress = showProgress();
  try {
    const answer = await requestComparison(buildRequest(), { signal, watch: progress.watch });
    if (!signal.aborted) showAnswer(answer);
  } catch (error) {
    if (signal.aborted) return;
    byId("state").replaceChildren(makeErrorNotice(error, loadPage));
    byId("asking").open = true;
  }
}

/** Show the state of the job, with a button to stop it; `watch(job)` updates it. */
function showProgress() {
  const bar = make("progress", { max: "1", "aria-label": "Progress" });
  const said = make("p", {}, "Comparing …");
  let id = null;
  const stop = make("button", { type: "button", class: "button" }, "Stop");
  const box = make("div", { class: "notice job" }, said, bar, stop);
  stop.addEventListener("click", () => {
    running.abort();
    if (id) leaveComparison(id);
    const again = make("button", { type: "button", class: "button", onclick: loadPage }, "Compare again");
    byId("state").replaceChildren(make("div", { class: "notice" }, make("p", {}, "Stopped. The address still contains the comparison."), again));
    byId("asking").open = true;
  });
  byId("state").replaceChildren(box);
  announce("Comparing …");
  const watch = (job) => {
    id = job.id;
    if (job.progress > 0) bar.value = job.progress;
    said.textContent = job.state === "queued" ? "Waiting for a free worker …" : `Comparing: ${job.message || "running"} …`;
  };
  return { watch };
}

function showAnswer(whole) {
  const answer = prepareAnswer(whole);
  byId("state").replaceChildren();
  byId("answer").hidden = false;
  document.title = `${formatSideTitle(answer.a)} / ${formatSideTitle(answer.b)} · PhraseCom`;
  byId("heading").textContent = `${formatSideTitle(answer.a)} compared with ${formatSideTitle(answer.b)}`;
  byId("asked").replaceChildren(
    ...["a", "b"].map((letter) => make("span", { class: "pair", dir: "auto" }, make("span", { class: `badge ${letter}` }, letter.toUpperCase()), formatSideTitle(answer[letter]))),
    make("span", { class: "change" }, "change"));
  byId("summary").textContent = answer.no_evidence ? answer.no_evidence.detail : answer.summary;
  drawTools();
  shown = { whole, answer, columns: new PhraseColumns(answer, chooseColumnNames(answer), view, selectPhrase), texts: new SideTexts(answer, view, selectPhrase), graph: null };
  shown.texts.showPhrase(view.phrase);
  byId("drawing").replaceChildren();
  byId("graph").open = view.graph;
  if (view.graph) drawGraph();
  showStats(answer);
  announce(byId("summary").textContent);
}

/** Return the headings; a query, and two parts of the index that follow each other in time, have headings of their own. */
function chooseColumnNames(answer) {
  const query = findQuerySide(answer);
  const alone = query && { [query]: `Not in ${nameOtherSide(answer)}`, [query === "a" ? "b" : "a"]: `Only ${nameOtherSide(answer)}` };
  if (alone) return { distinct_a: alone.a, common: "Both", distinct_b: alone.b };
  const [before, after] = ["a", "b"].map((letter) => splitSearch(view[letter].search));
  if (before.until && after.since && before.until < after.since) return { distinct_a: "Gone", common: "In both", distinct_b: "New" };
  if (after.until && before.since && after.until < before.since) return { distinct_a: "New", common: "In both", distinct_b: "Gone" };
  return { distinct_a: "Only A", common: "Both", distinct_b: "Only B" };
}

/** Select a phrase or the entry that it was merged into, or deselect it. */
function selectPhrase(list, clicked) {
  const entry = shown.answer[list]?.find(({ phrase, also }) => phrase === clicked || also?.includes(clicked));
  const phrase = entry?.phrase ?? clicked;
  const chosen = list === null || view.phrase === `${list}/${phrase}` ? "" : `${list}/${phrase}`;
  changeView({ phrase: chosen }, { push: false });
  shown.columns.draw(view);
  shown.texts.showPhrase(chosen);
  shown.graph?.showPhrase(chosen);
}

function drawTools() {
  const kinds = [["all", "all"], ["shared", "= shared"], ["implied", "≈ implied"]];
  const radios = kinds.map(([value, label]) => {
    const input = make("input", { type: "radio", name: "show", value });
    input.checked = view.show === value;
    input.addEventListener("change", () => redrawColumns({ show: value }));
    return make("label", {}, input, make("span", {}, label));
  });
  byId("show").replaceChildren(make("legend", {}, "Show"), ...radios);
  const method = byId("method");
  method.querySelector(".unknown")?.remove();
  if (![...method.options].some((option) => option.value === view.method)) {
    method.append(make("option", { value: view.method, class: "unknown" }, view.method));
  }
  method.value = view.method;
  byId("preset").value = view.preset;
  byId("sort").value = view.sort;
}

function redrawColumns(change) {
  changeView(change, { push: false });
  shown.columns.draw(view);
}

function showStats(answer) {
  const { stats } = answer;
  const ms = Object.values(stats.ms).reduce((sum, one) => sum + one, 0);
  const said = `${formatCount(stats.phrases, "phrase")} and ${formatCount(stats.documents, "document")} in the neighbourhood, ${formatCount(stats.edges, "edge")}, ${Math.round(ms)} ms, method ${answer.method}, parameters ${answer.preset}.`;
  byId("stats").replaceChildren(said, ...stats.notes.map((note) => make("span", {}, ` Note: ${note}.`)));
}

async function drawGraph() {
  const place = byId("drawing");
  if (shown.graph || place.dataset.asking) return;
  place.dataset.asking = "1";
  place.replaceChildren(make("p", { class: "muted" }, "Drawing …"));
  const { signal } = running;
  const { answer } = shown;
  try {
    const withGraph = await requestComparison(buildRequest({ graph: true }), { signal });
    if (signal.aborted || shown?.answer !== answer) return;
    shown.graph = new NeighbourhoodGraph(withGraph.graph, answer, selectPhrase);
    place.replaceChildren(shown.graph.node);
    shown.graph.center();
    shown.graph.showPhrase(view.phrase);
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(makeErrorNotice(error, drawGraph));
  } finally {
    delete place.dataset.asking;
  }
}

function addListeners() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const [a, b] = [fields.a.read(), fields.b.read()];
    if (!a || !b) {
      byId("state").replaceChildren(makeErrorNotice(new Error(`${a ? "B" : "A"} is empty: choose something to compare.`)));
      return;
    }
    changeView({ index: byId("index").value, a, b, phrase: "" }, { reload: true });
  });
  byId("index").addEventListener("change", () => changeView({ index: byId("index").value, a: null, b: null, phrase: "" }, { reload: true }));
  byId("parts").addEventListener("click", () => {
    for (const field of [fields.a, fields.b]) field.showForm("search");
    fields.a.area.querySelector("input").focus();
  });
  byId("swap").addEventListener("click", () => changeView({ a: fields.b.read(), b: fields.a.read(), phrase: "" }, { reload: true }));
  byId("sort").addEventListener("change", (event) => redrawColumns({ sort: event.target.value }));
  for (const name of ["method", "preset"]) byId(name).addEventListener("change", (event) => changeView({ [name]: event.target.value }, { reload: true }));
  byId("graph").addEventListener("toggle", () => {
    if (!shown || byId("graph").open === view.graph) return;
    changeView({ graph: byId("graph").open }, { push: false });
    if (view.graph) drawGraph();
  });
  byId("copy-link").addEventListener("click", () => copyText(location.href, "Link"));
  byId("copy-markdown").addEventListener("click", () => copyText(formatMarkdown(shown.answer, location.href), "Markdown"));
  byId("copy-json").addEventListener("click", () => copyText(JSON.stringify(shown.whole, null, 2), "JSON"));
  addEventListener("popstate", () => {
    view = readView();
    loadPage();
  });
}

addListeners();
loadPage();
