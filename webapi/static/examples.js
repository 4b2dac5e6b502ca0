/* Something to begin with: comparisons that this very index can answer. */

import { search, suggest } from "./api.js";
import { make } from "./dom.js";
import { about, shaped } from "./fields.js";
import { joinSearch, writeView } from "./sides.js";

const LARGEST = 1000;
const LETTERS = ["a", "c", "d", "m", "p", "s"];

/** Phrases of several words that many documents hold, a few for each of some letters. */
export async function somePhrases(index, most) {
  const found = await Promise.all(LETTERS.map((letter) => suggest(index, letter, 12).catch(() => [])));
  const several = found.flatMap((some) => some.filter((one) => one.phrase.includes(" ")).slice(0, 2));
  return [...new Map(several.map((one) => [one.phrase, one])).values()].slice(0, most);
}

/** Cards with two documents, a document and a query, and two groups, as far as there are any. */
export async function examples(index, groups) {
  const [[phrase], values] = await Promise.all([somePhrases(index, 1), groups]);
  const cards = [];
  if (phrase) {
    const named = await about(index);
    const body = { query: { multi_match: { query: phrase.display } }, size: 2, why: false };
    const hits = (await search(index, body)).hits.hits.map((hit) => shaped(hit, named));
    const [one, other] = hits.map((hit) => ({ side: { id: hit.id }, said: hit.title || hit.id }));
    if (other) cards.push(card(index, "Two documents", one, other));
    if (one) cards.push(card(index, "A document and a query", one, { side: { query: phrase.display }, said: phrase.display }));
  }
  const groupCard = twoGroups(index, values);
  if (groupCard) cards.push(groupCard);
  return cards.length ? make("section", { class: "examples", "aria-label": "Examples" }, ...cards) : null;
}

/** The two largest values of the first facet that has two, none larger than a side may usually be. */
function twoGroups(index, counted) {
  const values = counted.filter((one) => one.count > 1 && one.count <= LARGEST);
  const name = values.find((one) => values.some((other) => other.name === one.name && other.value !== one.value))?.name;
  const [one, other] = values.filter((value) => value.name === name).map(({ value }) => ({ side: { search: joinSearch({ words: "", facet: `${name}:${value}` }) }, said: value }));
  return other ? card(index, `Two groups, by ${name}`, one, other) : null;
}

function card(index, kind, a, b) {
  const address = writeView({ index, a: a.side, b: b.side, method: "cda", preset: "default", sort: "rank", show: "all" });
  const side = (letter, said) => make("span", { class: "pair", dir: "auto" }, make("span", { class: `badge ${letter.toLowerCase()}` }, letter), said);
  return make("a", { class: "example", href: address }, make("small", {}, kind), side("A", a.said), side("B", b.said));
}
