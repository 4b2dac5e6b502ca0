/* The compare page: address in, comparison out; every change goes back into the address. */

import { compare, indexes, leave } from "./api.js";
import { facetValues, SideField } from "./ask-form.js";
import { Board } from "./board.js";
import { announce, byId, copy, make, plural, trouble } from "./dom.js";
import { examples } from "./examples.js";
import { Graph } from "./graph.js";
import { markdown, title } from "./report.js";
import { readView, splitSearch, writeView } from "./sides.js";
import { Texts } from "./texts.js";

const METHODS = [
  ["cda", "graph (cda)"], ["cda_two_step", "two steps"], ["cda_alter_mea", "other measure"], ["cda_no_graph", "no graph"],
  ["containment", "containment"], ["word_match", "word match"], ["topic_label", "topic labels"], ["patent_com", "patent_com"],
  ["string_fuzzy", "similar strings"], ["context_fuzzy", "similar contexts"],
];
const CAP = 30;
const LEAD = "Two documents, two periods, a pasted text against the index: what both speak of, and what sets each apart.";

let view = readView();
let fields = null;
let running = null;
let shown = null;
let turns = 0;

function question(more = {}) {
  const { index, a, b, method, preset } = view;
  return { index, a, b, method, preset, options: { cap: CAP, ...more } };
}

/** Change the view; `ask` when the question itself changes. */
function go(change, { ask = false, push = true } = {}) {
  view = { ...view, ...change };
  history[push ? "pushState" : "replaceState"](null, "", writeView(view));
  if (ask) begin();
}

async function begin() {
  const turn = (turns += 1);
  running?.abort();
  byId("answer").hidden = true;
  for (const part of ["state", "board", "texts", "drawing"]) byId(part).replaceChildren();
  shown = null;
  try {
    await drawForm();
  } catch (error) {
    if (turn === turns) byId("state").replaceChildren(trouble(error, begin));
    return;
  }
  if (turn !== turns) return; // asked for something else meanwhile
  if (view.a && view.b && view.index) await ask();
  else {
    byId("asking").open = true;
    byId("asked").textContent = "Choose what to compare";
    byId("state").replaceChildren(make("p", { class: "muted" }, LEAD));
    await offer(turn);
  }
}

/** Where nothing is asked yet, something that could be. */
async function offer(turn) {
  const index = byId("index").value;
  const offered = index ? await examples(index, fields.a.facets).catch(() => null) : null; // a help, not a need
  if (offered && turn === turns) byId("state").append(offered);
}

async function drawForm() {
  const found = await indexes();
  if (!view.index && found.length === 1) go({ index: found[0].name }, { push: false });
  const names = [...new Set([...found.map((one) => one.name), ...(view.index ? [view.index] : [])])];
  const select = byId("index");
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  select.value = view.index || names[0] || "";
  byId("which").hidden = names.length < 2;
  byId("nav-search").href = `/?${new URLSearchParams(view.index ? { index: view.index } : {})}`;
  const facets = select.value ? facetValues(select.value).catch(() => []) : Promise.resolve([]);
  fields = { a: new SideField("A", view.a, () => select.value, facets), b: new SideField("B", view.b, () => select.value, facets) };
  byId("sides").replaceChildren(fields.a.node, fields.b.node);
}

async function ask() {
  byId("asking").open = false;
  running = new AbortController();
  const { signal } = running;
  const progress = waiting();
  try {
    const answer = await compare(question(), { signal, watch: progress.watch });
    if (!signal.aborted) show(answer);
  } catch (error) {
    if (signal.aborted) return;
    byId("state").replaceChildren(trouble(error, begin));
    byId("asking").open = true;
  }
}

/** The state of the job, shown once it takes longer than a moment, with a way to leave. */
function waiting() {
  const bar = make("progress", { max: "1", "aria-label": "Progress" });
  const said = make("p", {}, "Comparing …");
  let id = null;
  const stop = make("button", { type: "button", class: "button" }, "Stop");
  const box = make("div", { class: "notice job" }, said, bar, stop);
  stop.addEventListener("click", () => {
    running.abort();
    if (id) leave(id);
    const again = make("button", { type: "button", class: "button", onclick: begin }, "Ask again");
    byId("state").replaceChildren(make("div", { class: "notice" }, make("p", {}, "Stopped. The address keeps the question."), again));
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

function show(answer) {
  byId("state").replaceChildren();
  byId("answer").hidden = false;
  document.title = `${title(answer.a)} / ${title(answer.b)} · PhraseCom`;
  byId("heading").textContent = `${title(answer.a)} compared with ${title(answer.b)}`;
  byId("asked").replaceChildren(
    ...["a", "b"].map((letter) => make("span", { class: "pair", dir: "auto" }, make("span", { class: `badge ${letter}` }, letter.toUpperCase()), title(answer[letter]))),
    make("span", { class: "change" }, "change"));
  byId("summary").textContent = answer.no_evidence ? answer.no_evidence.detail : answer.summary;
  tools();
  shown = { answer, board: new Board(answer, columnNames(), view, select), texts: new Texts(answer, view, select), graph: null };
  shown.texts.show(view.phrase);
  byId("drawing").replaceChildren();
  byId("graph").open = view.graph;
  if (view.graph) drawGraph();
  stats(answer);
  announce(byId("summary").textContent);
}

/** Two parts of the index one after the other in time: what went, what stayed, what came. */
function columnNames() {
  const [before, after] = ["a", "b"].map((letter) => splitSearch(view[letter].search));
  if (before.until && after.since && before.until < after.since) return { distinct_a: "Gone", common: "In both", distinct_b: "New" };
  if (after.until && before.since && after.until < before.since) return { distinct_a: "New", common: "In both", distinct_b: "Gone" };
  return { distinct_a: "Only A", common: "Both", distinct_b: "Only B" };
}

function select(list, asked) {
  const folded = shown.answer[list]?.find((entry) => entry.phrase === asked || entry.also?.includes(asked));
  const phrase = folded?.phrase ?? asked;
  const chosen = list === null || view.phrase === `${list}/${phrase}` ? "" : `${list}/${phrase}`;
  go({ phrase: chosen }, { push: false });
  shown.board.draw(view);
  shown.texts.show(chosen);
  shown.graph?.show(chosen);
}

function tools() {
  const implied = [["all", "all"], ["shared", "= shared"], ["implied", "≈ implied"]];
  const radios = implied.map(([value, label]) => {
    const input = make("input", { type: "radio", name: "show", value });
    input.checked = view.show === value;
    input.addEventListener("change", () => redraw({ show: value }));
    return make("label", {}, input, make("span", {}, label));
  });
  byId("show").replaceChildren(make("legend", {}, "Show"), ...radios);
  const method = byId("method");
  const known = METHODS.some(([value]) => value === view.method) ? METHODS : [...METHODS, [view.method, view.method]];
  method.replaceChildren(...known.map(([value, label]) => make("option", { value }, label)));
  method.value = view.method;
  byId("preset").value = view.preset;
  byId("sort").value = view.sort;
}

function redraw(change) {
  go(change, { push: false });
  shown.board.draw(view);
}

function stats(answer) {
  const { stats } = answer;
  const ms = Object.values(stats.ms).reduce((sum, one) => sum + one, 0);
  const said = `${plural(stats.phrases, "phrase")} and ${plural(stats.documents, "document")} of the neighbourhood, ${plural(stats.edges, "edge")}, ${Math.round(ms)} ms, method ${answer.method}, parameters ${answer.preset}.`;
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
    const whole = await compare(question({ graph: true }), { signal });
    if (signal.aborted || shown?.answer !== answer) return;
    shown.graph = new Graph(whole.graph, answer, select);
    place.replaceChildren(shown.graph.node);
    shown.graph.center();
    shown.graph.show(view.phrase);
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(trouble(error, drawGraph));
  } finally {
    delete place.dataset.asking;
  }
}

function wire() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const [a, b] = [fields.a.read(), fields.b.read()];
    if (!a || !b) {
      byId("state").replaceChildren(trouble(new Error(`${a ? "B" : "A"} is empty: choose something to compare.`)));
      return;
    }
    go({ index: byId("index").value, a, b, phrase: "" }, { ask: true });
  });
  byId("index").addEventListener("change", () => go({ index: byId("index").value, a: null, b: null, phrase: "" }, { ask: true }));
  byId("parts").addEventListener("click", () => {
    for (const field of [fields.a, fields.b]) field.turn("search");
    fields.a.area.querySelector("input").focus();
  });
  byId("swap").addEventListener("click", () => go({ a: fields.b.read(), b: fields.a.read(), phrase: "" }, { ask: true }));
  byId("sort").addEventListener("change", (event) => redraw({ sort: event.target.value }));
  for (const name of ["method", "preset"]) byId(name).addEventListener("change", (event) => go({ [name]: event.target.value }, { ask: true }));
  byId("graph").addEventListener("toggle", () => {
    if (!shown || byId("graph").open === view.graph) return;
    go({ graph: byId("graph").open }, { push: false });
    if (view.graph) drawGraph();
  });
  byId("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  byId("copy-markdown").addEventListener("click", () => copy(markdown(shown.answer, location.href), "Markdown"));
  byId("copy-json").addEventListener("click", () => copy(JSON.stringify(shown.answer, null, 2), "JSON"));
  addEventListener("popstate", () => {
    view = readView();
    begin();
  });
}

wire();
begin();
