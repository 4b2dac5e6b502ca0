/* The form of the compare page: what stands on each side. */

import { search } from "./api.js";
import { combobox } from "./combobox.js";
import { make } from "./dom.js";
import { about, shaped } from "./fields.js";
import { joinSearch, splitSearch } from "./sides.js";

const KINDS = [
  ["id", "A document"],
  ["search", "Part of the index"],
  ["ids", "Several documents"],
  ["query", "A query"],
  ["text", "A pasted text"],
];

/** Facet values of an index, most frequent first: [{name, value, count}]. */
export async function facetValues(index) {
  const facets = (await about(index)).facets.filter((facet) => facet.name !== null);
  if (!facets.length) return [];
  const aggs = Object.fromEntries(facets.map(({ field }) => [field, { terms: { field, size: 50 } }]));
  const counted = (await search(index, { query: { match_all: {} }, size: 0, why: false, aggs })).aggregations;
  return facets.flatMap(({ field, name }) => counted[field].buckets.map((one) => ({ name, value: one.key, count: one.doc_count })));
}

/** One side of the form; `read()` gives the side, or null while it is empty. */
export class SideField {
  constructor(letter, side, index, facets) {
    this.letter = letter;
    this.index = index;
    this.facets = facets;
    this.kept = side ? { ...side } : {};
    this.kind = side ? Object.keys(side)[0] : "id";
    this.area = make("div", { class: "side-input" });
    this.select = make("select", { "aria-label": `What ${letter} is`, onchange: () => this.turn(this.select.value) },
      ...KINDS.map(([value, label]) => make("option", { value }, label)));
    const legend = make("legend", {}, make("span", { class: `badge ${letter.toLowerCase()}` }, letter));
    this.node = make("fieldset", { class: "side" }, legend, this.select, this.area);
    this.turn(this.kind);
  }

  turn(kind) {
    this.kind = kind;
    this.select.value = kind;
    const drawn = { id: this.#document, ids: this.#several, search: this.#part, query: this.#query, text: this.#text }[kind];
    this.area.replaceChildren(...drawn.call(this));
  }

  #document() {
    const input = make("input", { placeholder: "Type words to find it, or its id", "aria-label": `Document ${this.letter}`, value: this.kept.id || "" });
    const list = make("ul", { class: "suggestions", id: `documents-${this.letter}`, hidden: true });
    const look = async (typed, signal) => {
      const named = await about(this.index());
      const body = { query: { multi_match: { query: typed } }, size: 8, why: false, _source: [named.fields.title ?? "title"] };
      const found = await search(this.index(), body, { signal });
      return found.hits.hits.map((hit) => ({ value: hit._id, label: shaped(hit, named).title || hit._id, note: hit._id }));
    };
    const take = (option) => {
      input.value = option.value;
    };
    combobox(input, list, look, take, "Documents");
    this.read = () => (input.value.trim() ? { id: input.value.trim() } : null);
    return [make("div", { class: "box" }, input, list)];
  }

  #several() {
    const area = make("textarea", { rows: "3", placeholder: "One id a line", "aria-label": `Documents ${this.letter}` });
    area.value = (this.kept.ids || []).join("\n");
    this.read = () => {
      const ids = [...new Set(area.value.split("\n").map((line) => line.trim()).filter(Boolean))];
      return ids.length ? { ids } : null;
    };
    return [area];
  }

  #part() {
    const now = splitSearch(this.kept.search);
    const words = make("input", { placeholder: "Words (may stay empty)", "aria-label": `Words of ${this.letter}`, value: now.words });
    const since = make("input", { type: "date", "aria-label": `${this.letter} from`, value: now.since });
    const until = make("input", { type: "date", "aria-label": `${this.letter} to`, value: now.until });
    const facet = make("select", { "aria-label": `Facet of ${this.letter}` }, make("option", { value: "" }, "any facet"));
    this.facets.then((found) => {
      const names = [...new Set(found.map((one) => one.name))];
      for (const name of names) {
        const values = found.filter((one) => one.name === name);
        facet.append(make("optgroup", { label: name }, ...values.map((one) => make("option", { value: `${name}:${one.value}` }, `${one.value} (${one.count})`))));
      }
      if (now.facet && ![...facet.options].some((option) => option.value === now.facet)) facet.append(make("option", { value: now.facet }, now.facet));
      facet.value = now.facet;
    });
    this.read = () => {
      const written = joinSearch({ words: words.value, facet: facet.value || (facet.options.length < 2 ? now.facet : ""), since: since.value, until: until.value });
      return written ? { search: written } : null;
    };
    return [words, facet, make("div", { class: "range" }, since, make("span", { "aria-hidden": "true" }, "–"), until)];
  }

  #query() {
    const input = make("input", { placeholder: "Words of a search", "aria-label": `Query ${this.letter}`, value: this.kept.query || "" });
    this.read = () => (input.value.trim() ? { query: input.value.trim() } : null);
    return [input];
  }

  #text() {
    const area = make("textarea", { rows: "5", placeholder: "Paste a text", "aria-label": `Text ${this.letter}` });
    area.value = this.kept.text || "";
    this.read = () => (area.value.trim() ? { text: area.value } : null);
    return [area];
  }
}
