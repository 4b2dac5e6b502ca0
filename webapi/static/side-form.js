/* The form of the compare page: one field set for each side. */

import { searchIndex } from "./api.js";
import { attachCombobox } from "./combobox.js";
import { joinSearch, splitSearch } from "./compare-address.js";
import { make } from "./dom.js";
import { describeIndex, matchWords, toResult } from "./index-fields.js";

const FORMS = [
  ["id", "A document"],
  ["search", "Part of the index"],
  ["ids", "Several documents"],
  ["query", "A query"],
  ["text", "A pasted text"],
];

/** Return the facet values of an index, most frequent first: [{name, value, count}]. */
export async function countFacetValues(index) {
  const facets = (await describeIndex(index)).facets.filter((facet) => facet.name !== null);
  if (!facets.length) return [];
  const aggs = Object.fromEntries(facets.map(({ field }) => [field, { terms: { field, size: 50 } }]));
  const counted = (await searchIndex(index, { query: { match_all: {} }, size: 0, why: false, aggs })).aggregations;
  return facets.flatMap(({ field, name }) => counted[field].buckets.map((one) => ({ name, value: one.key, count: one.doc_count })));
}

/** One side of the form; `read()` returns the side, or null while it is empty. */
export class SideField {
  constructor(letter, side, index, facets) {
    this.letter = letter;
    this.index = index;
    this.facets = facets;
    this.initial = side ? { ...side } : {};
    this.form = side ? Object.keys(side)[0] : "id";
    this.area = make("div", { class: "side-input" });
    this.select = make("select", { "aria-label": `Type of ${letter}`, onchange: () => this.showForm(this.select.value) },
      ...FORMS.map(([value, label]) => make("option", { value }, label)));
    const legend = make("legend", {}, make("span", { class: `badge ${letter.toLowerCase()}` }, letter));
    this.node = make("fieldset", { class: "side" }, legend, this.select, this.area);
    this.showForm(this.form);
  }

  /** Show the inputs for one form of a side. */
  showForm(form) {
    this.form = form;
    this.select.value = form;
    const makeInputs = { id: this.#makeDocumentInput, ids: this.#makeIdsInput, search: this.#makeSearchInput, query: this.#makeQueryInput, text: this.#makeTextInput }[form];
    this.area.replaceChildren(...makeInputs.call(this));
  }

  #makeDocumentInput() {
    const input = make("input", { placeholder: "Type words to find it, or its id", "aria-label": `Document ${this.letter}`, value: this.initial.id || "" });
    const list = make("ul", { class: "suggestions", id: `documents-${this.letter}`, hidden: true });
    const findOptions = async (typed, signal) => {
      const description = await describeIndex(this.index());
      const body = { query: matchWords(typed, description), size: 8, why: false, _source: [description.fields.title ?? "title"] };
      const response = await searchIndex(this.index(), body, { signal });
      return response.hits.hits.map((hit) => ({ value: hit._id, label: toResult(hit, description).title || hit._id, note: hit._id }));
    };
    const onChoose = (option) => {
      input.value = option.value;
    };
    attachCombobox(input, list, findOptions, onChoose, "Documents");
    this.read = () => (input.value.trim() ? { id: input.value.trim() } : null);
    return [make("div", { class: "box" }, input, list)];
  }

  #makeIdsInput() {
    const area = make("textarea", { rows: "3", placeholder: "One id per line", "aria-label": `Documents ${this.letter}` });
    area.value = (this.initial.ids || []).join("\n");
    this.read = () => {
      const ids = [...new Set(area.value.split("\n").map((line) => line.trim()).filter(Boolean))];
      return ids.length ? { ids } : null;
    };
    return [area];
  }

  #makeSearchInput() {
    const now = splitSearch(this.initial.search);
    const words = make("input", { placeholder: "Words (optional)", "aria-label": `Words of ${this.letter}`, value: now.words });
    const since = make("input", { type: "date", "aria-label": `${this.letter} from`, value: now.since });
    const until = make("input", { type: "date", "aria-label": `${this.letter} to`, value: now.until });
    const facet = make("select", { "aria-label": `Facet of ${this.letter}` }, make("option", { value: "" }, "any facet"));
    this.facets.then((counted) => {
      const names = [...new Set(counted.map((one) => one.name))];
      for (const name of names) {
        const values = counted.filter((one) => one.name === name);
        facet.append(make("optgroup", { label: name }, ...values.map((one) => make("option", { value: `${name}:${one.value}` }, `${one.value} (${one.count})`))));
      }
      if (now.facet && ![...facet.options].some((option) => option.value === now.facet)) facet.append(make("option", { value: now.facet }, now.facet));
      facet.value = now.facet;
    });
    this.read = () => {
      const search = joinSearch({ words: words.value, facet: facet.value || (facet.options.length < 2 ? now.facet : ""), since: since.value, until: until.value });
      return search ? { search } : null;
    };
    return [words, facet, make("div", { class: "range" }, since, make("span", { "aria-hidden": "true" }, "–"), until)];
  }

  #makeQueryInput() {
    const input = make("input", { placeholder: "Query words", "aria-label": `Query ${this.letter}`, value: this.initial.query || "" });
    this.read = () => (input.value.trim() ? { query: input.value.trim() } : null);
    return [input];
  }

  #makeTextInput() {
    const area = make("textarea", { rows: "5", placeholder: "Paste a text", "aria-label": `Text ${this.letter}` });
    area.value = this.initial.text || "";
    this.read = () => (area.value.trim() ? { text: area.value } : null);
    return [area];
  }
}
