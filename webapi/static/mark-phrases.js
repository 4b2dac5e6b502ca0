/* Phrases in a text: where they are, and the text as nodes with them marked. */

import { make } from "./dom.js";

const MAX_TEXT_LENGTH = 200000;

export const makePattern = (entry) => customElements.get("why-this-result").pattern(entry);

export const separateEvidence = (places) => customElements.get("why-this-result").apart(places);

/** Return a function from offsets of the API, in characters (code points), to those of a string here, in UTF-16 units. */
export function makeUnitConverter(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const units = [];
  let at = 0;
  for (const character of text) {
    units.push(at);
    at += character.length;
  }
  units.push(at);
  return (offset) => units[Math.min(offset, units.length - 1)];
}

/** Return the spans {start, end, entry, list} of the entries in a text, in order and without overlaps.
    `field` and `id` choose the evidence that belongs to this text; `matched`: words of a query, which have no phrase. */
export function findSpans(text, lists, { side, id, field, matched = [] }) {
  const unit = makeUnitConverter(text);
  const words = matched.filter((word) => word.field === field && (word.id ?? id) === id);
  const found = words.map(({ start, end }) => ({ start: unit(start), end: unit(end), entry: {}, list: "matched", sure: false }));
  for (const [list, entries] of Object.entries(lists)) {
    for (const entry of entries) {
      for (const place of entry.evidence) {
        const here = place.side === side && place.field === field && place.id === id;
        if (here) found.push({ start: unit(place.start), end: unit(place.end), entry, list, sure: true });
      }
      for (const match of text.length > MAX_TEXT_LENGTH ? [] : text.matchAll(makePattern(entry))) {
        found.push({ start: match.index, end: match.index + match[0].length, entry, list, sure: false });
      }
    }
  }
  found.sort((one, other) => one.start - other.start || other.end - one.end || other.sure - one.sure);
  const kept = [];
  for (const span of found) {
    if (span.end > span.start && span.end <= text.length && span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span);
  }
  return kept;
}

/** Return the text as nodes, with the spans marked. */
export function markText(text, spans) {
  const out = [];
  let at = 0;
  for (const { start, end, entry, list } of spans) {
    out.push(text.slice(at, start));
    out.push(make("mark", { class: `in-${list}`, "data-phrase": entry.phrase, "data-list": list }, text.slice(start, end)));
    at = end;
  }
  out.push(text.slice(at));
  return out;
}

/** Return the beginning of a field as nodes, with the words of a query that `matched` marked by their offsets. */
export function markWords(text, field, matched = []) {
  const unit = makeUnitConverter(text);
  const places = matched.filter((one) => one.field === field).map(({ start, end }) => [unit(start), unit(end)]);
  const out = [];
  let at = 0;
  for (const [start, end] of places.sort((one, other) => one[0] - other[0])) {
    if (start < at || end > text.length || start >= end) continue;
    out.push(text.slice(at, start), make("mark", {}, text.slice(start, end)));
    at = end;
  }
  return [...out, text.slice(at)];
}

/** Return a snippet as nodes, with the matches of a pattern marked. */
export function markSnippet(text, pattern) {
  const out = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    out.push(text.slice(at, match.index), make("mark", {}, match[0]));
    at = match.index + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}
