/* The phrases of a comparison in three columns, each with its evidence behind a click. */

import { postJson } from "./api.js";
import { formatSideTitle } from "./compare-address.js";
import { byId, make, showToast } from "./dom.js";
import { makePattern, markSnippet, separateEvidence } from "./mark-phrases.js";
import { findQuerySide, nameOtherSide } from "./query-comparison.js";

const MAX_ROWS = 8;
const SIGNS = { shared: ["=", "both contain it"], implied: ["≈", "only one contains it; the documents below connect it to the other"], meaning: ["≈", "only one contains it; both are about it by meaning"] };
const SORTS = {
  rank: () => 0,
  name: (one, other) => one.display.localeCompare(other.display),
  count: (one, other) => other.a.count + other.b.count - one.a.count - one.b.count,
  relevance: (one, other) => Math.max(other.a.relevance, other.b.relevance) - Math.max(one.a.relevance, one.b.relevance),
};

export class PhraseColumns {
  /** `select(list, phrase)` is called when a phrase is clicked; with null when it was open. */
  constructor(answer, names, view, select) {
    const query = findQuerySide(answer);
    Object.assign(this, { answer, names, select, ofQuery: query && `distinct_${query}` });
    this.open = new Set();
    this.said = new Map();
    this.draw(view);
  }

  draw(view) {
    this.view = view;
    const focused = document.activeElement?.closest?.("#board [data-key]")?.dataset.key;
    byId("board").replaceChildren(
      this.#makeColumn("distinct_a", this.names.distinct_a, this.#makeTitle("a")),
      this.#makeColumn("common", this.names.common, null),
      this.#makeColumn("distinct_b", this.names.distinct_b, this.#makeTitle("b")),
    );
    if (focused) byId("board").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #makeTitle(letter) {
    return make("p", { class: "of", dir: "auto" }, make("span", { class: `badge ${letter}` }, letter.toUpperCase()), formatSideTitle(this.answer[letter]));
  }

  #makeColumn(list, name, head) {
    const { show, sort } = this.view;
    const all = this.answer[list].filter((entry) => list !== "common" || show === "all" || (show === "shared") === (entry.kind === "shared"));
    const sorted = [...all].sort(SORTS[sort]);
    const chosen = sorted.findIndex((entry) => this.#isChosen(list, entry));
    const most = this.open.has(list) || chosen >= MAX_ROWS ? sorted.length : MAX_ROWS;
    const top = Math.max(1e-9, ...all.flatMap((entry) => [entry.a.relevance, entry.b.relevance]));
    const rows = sorted.slice(0, most).map((entry) => this.#makeRow(list, entry, top));
    const words = this.#makeWords(list);
    const heading = make("h2", { id: `column-${list}` }, name, " ", make("small", {}, String(all.length + words.length)));
    const passage = list === "common" && this.answer.passage;
    const content = [words.length ? make("ul", { class: "words" }, ...words) : "", rows.length ? make("ul", {}, ...rows) : "",
      passage ? make("p", { class: "muted passage" }, "Nearest sentence: ", make("span", { dir: "auto" }, `“${passage.text}”`)) : ""];
    const column = make("section", { class: `column ${list}`, "aria-labelledby": `column-${list}` }, heading, head ?? "",
      ...(rows.length || words.length || passage ? content : [make("p", { class: "muted none" }, this.#describeEmpty(list))]));
    if (sorted.length > most) {
      const more = () => {
        this.open.add(list);
        this.draw(this.view);
      };
      column.append(make("button", { type: "button", class: "plain", onclick: more }, `Show all ${sorted.length}`));
    }
    return column;
  }

  /** Make the words of a query that belong in a column: those that the other side contains, or lacks. */
  #makeWords(list) {
    const { words = [], lacks = [] } = this.answer;
    const item = (shown, said) => make("li", { dir: "auto" }, shown, make("span", { class: "hide" }, ` ${said}`));
    if (list === "common") return this.view.show === "implied" ? [] : words.map(({ word }) => item(make("strong", {}, word), "found"));
    return list === this.ofQuery ? lacks.map((word) => item(make("s", {}, word), "not found")) : [];
  }

  #describeEmpty(list) {
    if (list === "common" && this.view.show !== "all") return `No ${this.view.show} phrases.`;
    if (this.ofQuery && list === "common") return `Nothing stands out that ${nameOtherSide(this.answer)} and the query share.`;
    if (list === this.ofQuery) return "No word of the query is missing.";
    return list === "common" ? "No notable shared phrases." : "No distinct phrases.";
  }

  #isChosen(list, entry) {
    return this.view.phrase === `${list}/${entry.phrase}`;
  }

  #makeRow(list, entry, top) {
    const open = this.#isChosen(list, entry);
    const [sign, said] = SIGNS[entry.kind] || [list === "distinct_a" ? "A" : "B", `only ${list === "distinct_a" ? "A" : "B"}`];
    const id = `evidence-${list}`;
    const button = make("button", {
      type: "button", class: `phrase ${entry.kind}`, "data-key": `${list}/${entry.phrase}`, "data-phrase": entry.phrase,
      "aria-expanded": String(open), "aria-controls": open ? id : null, onclick: () => this.select(open ? null : list, entry.phrase),
    },
    make("span", { class: "mark", "aria-hidden": "true" }, sign),
    make("span", { class: "name", dir: "auto" }, entry.display),
    make("span", { class: "hide" }, `, ${said}`),
    makeCounts(list, entry),
    makeBars(list, entry, top));
    return make("li", {}, button, open ? this.#makeEvidence(id, list, entry, said) : "");
  }

  #makeEvidence(id, list, entry, said) {
    const box = make("div", { class: "evidence", id });
    const found = makePattern(entry);
    box.append(make("p", { class: "muted" }, said[0].toUpperCase() + said.slice(1), "."));
    const also = (entry.also || []).filter((other) => !isSamePhrase(entry.display, other));
    if (also.length) box.append(make("p", { dir: "auto" }, make("span", { class: "muted" }, "Also: "), also.join(", ").replaceAll("@@", " + ")));
    for (const place of separateEvidence(entry.evidence)) {
      const from = this.answer[place.side].ids.length > 1 ? make("code", {}, place.id) : null;
      box.append(make("blockquote", { dir: "auto" }, make("span", { class: `badge ${place.side}` }, place.side.toUpperCase()), ...markSnippet(place.snippet, found), from ?? ""));
    }
    if (entry.kind === "implied" || entry.kind === "meaning") box.append(...this.#makeBridges(entry));
    box.append(this.#makeFeedback(list, entry));
    return box;
  }

  #makeBridges(entry) {
    const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
    const lacking = entry.a.count ? "B" : "A";
    const rows = (entry.via || []).map((bridge) =>
      make("li", { dir: "auto" }, make("strong", {}, bridge.title || bridge.id), " ", make("span", { class: "share" }, percent(bridge.share)),
        bridge.phrases.length ? make("span", { class: "muted" }, ` via ${bridge.phrases.join(", ").replaceAll("@@", " + ")}`) : ""));
    const rest = [["the side that contains it", entry.own], ["shared words", entry.partial], ["other documents", entry.rest]]
      .filter(([, share]) => share > 0.005).map(([name, share]) => `${name} ${percent(share)}`);
    return [
      make("p", {}, `${lacking} does not contain it. Connected to ${lacking} through:`),
      rows.length ? make("ol", { class: "bridges" }, ...rows) : make("p", { class: "muted" }, "no single document stands out"),
      rest.length ? make("p", { class: "muted" }, `Other shares: ${rest.join(", ")}.`) : "",
    ];
  }

  #makeFeedback(list, entry) {
    const key = `${list}/${entry.phrase}`;
    const button = (useful, label) =>
      make("button", { type: "button", class: "plain", "data-key": `${key}/${useful}`, "aria-pressed": String(this.said.get(key) === useful), onclick: () => this.#sendFeedback(key, list, entry, useful) }, label);
    return make("p", { class: "feedback" }, make("span", { class: "muted" }, "Is this phrase useful here?"), button(true, "Useful"), button(false, "Not useful"));
  }

  async #sendFeedback(key, list, entry, useful) {
    const path = `/v1/comparisons/${encodeURIComponent(this.answer.id)}/feedback`;
    try {
      await postJson(path, { phrases: [{ phrase: entry.phrase, useful, list }] });
      this.said.set(key, useful);
      this.draw(this.view);
      showToast("Feedback saved.");
    } catch (error) {
      showToast(error.message);
    }
  }
}

const SIDES = { common: ["a", "b"], distinct_a: ["a"], distinct_b: ["b"] };

/** Return whether a phrase is what is displayed, by its lemmas. */
function isSamePhrase(display, other) {
  const words = display.replaceAll("-", " ").toLowerCase().split(/\s+/);
  const lemmas = other.split(" ");
  return words.length === lemmas.length && words.every((word, n) => word.slice(0, 3) === lemmas[n].slice(0, 3));
}

/** Make the counts of a phrase on each side. */
function makeCounts(list, entry) {
  const parts = SIDES[list].map((side) => make("span", { class: side, title: `times in ${side.toUpperCase()}` }, `${entry[side].count}×`));
  return make("span", { class: "counts" }, ...parts);
}

/** Make bars for its relevance to each side. */
function makeBars(list, entry, top) {
  const bar = (side) => {
    const made = make("span", { class: `bar ${side}` });
    made.style.setProperty("--part", Math.min(1, entry[side].relevance / top).toFixed(3));
    return made;
  };
  const said = SIDES[list].map((side) => `${entry[side].relevance.toFixed(1)} to ${side.toUpperCase()}`).join(", ");
  return make("span", { class: "bars", "aria-hidden": "true", title: `relevance ${said} (1.0: average salient phrase)` }, ...SIDES[list].map(bar));
}
