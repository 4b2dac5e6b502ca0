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
    `field` and `id` choose the evidence that belongs to this text. */
export function findSpans(text, lists, { side, id, field }) {
  const unit = makeUnitConverter(text);
  const found = [];
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
