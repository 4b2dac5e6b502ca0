/* Comparisons to begin with, made from what the index contains. */

import { searchIndex, suggestPhrases } from "./api.js";
import { joinSearch, writeView } from "./compare-address.js";
import { make } from "./dom.js";
import { describeIndex, matchWords, toResult } from "./index-fields.js";

const MAX_GROUP_DOCUMENTS = 1000;
const LETTERS = ["a", "c", "d", "m", "p", "s"];

/** Return phrases of several words that many documents contain, a few for each of some letters. */
export async function samplePhrases(index, count) {
  const suggestions = await Promise.all(LETTERS.map((letter) => suggestPhrases(index, letter, 12).catch(() => [])));
  const several = suggestions.flatMap((phrases) => phrases.filter((one) => one.phrase.includes(" ")).slice(0, 2));
  return [...new Map(several.map((one) => [one.phrase, one])).values()].slice(0, count);
}

/** Make cards with two documents, a document and a query, and two groups, as far as the index has them. */
export async function makeSuggestions(index, groups) {
  const [[phrase], values] = await Promise.all([samplePhrases(index, 1), groups]);
  const cards = [];
  if (phrase) {
    const description = await describeIndex(index);
    const body = { query: matchWords(phrase.display, description), size: 2, why: false };
    const hits = (await searchIndex(index, body)).hits.hits.map((hit) => toResult(hit, description));
    const [one, other] = hits.map((hit) => ({ side: { id: hit.id }, said: hit.title || hit.id }));
    if (other) cards.push(makeCard(index, "Two documents", one, other));
    if (one) cards.push(makeCard(index, "A document and a query", one, { side: { query: phrase.display }, said: phrase.display }));
  }
  const groupCard = makeGroupCard(index, values);
  if (groupCard) cards.push(groupCard);
  return cards.length ? make("section", { class: "examples", "aria-label": "Examples" }, ...cards) : null;
}

/** The two largest values of the first facet that has two, none larger than a side may usually be. */
function makeGroupCard(index, counted) {
  const values = counted.filter((one) => one.count > 1 && one.count <= MAX_GROUP_DOCUMENTS);
  const name = values.find((one) => values.some((other) => other.name === one.name && other.value !== one.value))?.name;
  const [one, other] = values.filter((value) => value.name === name).map(({ value }) => ({ side: { search: joinSearch({ words: "", facet: `${name}:${value}` }) }, said: value }));
  return other ? makeCard(index, `Two groups, by ${name}`, one, other) : null;
}

function makeCard(index, kind, a, b) {
  const address = writeView({ index, a: a.side, b: b.side, method: "cda", preset: "default", sort: "rank", show: "all" });
  const side = (letter, said) => make("span", { class: "pair", dir: "auto" }, make("span", { class: `badge ${letter.toLowerCase()}` }, letter), said);
  return make("a", { class: "example", href: address }, make("small", {}, kind), side("A", a.said), side("B", b.said));
}
