/* Phrases in a text: where they are, and the text as nodes with them marked. */

import { make } from "./dom.js";

const LONGEST = 200000;

export const pattern = (entry) => customElements.get("why-this-result").pattern(entry);

export const apart = (places) => customElements.get("why-this-result").apart(places);

/** Offsets of the API count characters (code points); those of a string here count UTF-16 units. */
export function unitsOf(text) {
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

/** Spans {start, end, entry, list} of the entries in a text, none overlapping, in order.
    `field` and `id` choose the evidence that belongs to this text. */
export function spansOf(text, lists, { side, id, field }) {
  const unit = unitsOf(text);
  const found = [];
  for (const [list, entries] of Object.entries(lists)) {
    for (const entry of entries) {
      for (const place of entry.evidence) {
        const here = place.side === side && place.field === field && place.id === id;
        if (here) found.push({ start: unit(place.start), end: unit(place.end), entry, list, sure: true });
      }
      for (const match of text.length > LONGEST ? [] : text.matchAll(pattern(entry))) {
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

/** The text as nodes. */
export function markedText(text, spans) {
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

/** A snippet with what a pattern finds marked. */
export function markedSnippet(text, found) {
  const out = [];
  let at = 0;
  for (const match of text.matchAll(found)) {
    out.push(text.slice(at, match.index), make("mark", {}, match[0]));
    at = match.index + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}
