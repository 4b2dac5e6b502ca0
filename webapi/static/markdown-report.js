/* A comparison as Markdown, for the clipboard. */

import { formatSideTitle } from "./compare-address.js";
import { findQuerySide } from "./query-comparison.js";

const escapeMarkdown = (text) => text.replace(/([\\`*_[\]<>|#])/g, "\\$1").replace(/\s+/g, " ");

/** Return the comparison as Markdown, with the address that reproduces it. */
export function formatMarkdown(answer, address) {
  const names = { a: formatSideTitle(answer.a), b: formatSideTitle(answer.b) };
  const lists = [
    ["Both", answer.common],
    [`Only ${names.a}`, answer.distinct_a],
    [`Only ${names.b}`, answer.distinct_b],
  ];
  const parts = [`# ${escapeMarkdown(names.a)} / ${escapeMarkdown(names.b)}`, escapeMarkdown(answer.summary)];
  for (const [name, entries] of lists) {
    if (entries.length) parts.push(`## ${escapeMarkdown(name)}`, entries.map(formatEntry).join("\n"));
  }
  if (findQuerySide(answer)) {
    const { matched = [], lacks = [] } = answer;
    const words = [["Words of the query in it", matched.map(({ word }) => word)], ["Words of the query not in it", lacks]];
    for (const [name, found] of words) if (found.length) parts.push(`${name}: ${found.map(escapeMarkdown).join(", ")}.`);
    if (answer.passage) parts.push(`Nearest sentence: “${escapeMarkdown(answer.passage.text)}”`);
  }
  parts.push(`[This comparison](<${address}>): index ${escapeMarkdown(answer.index)}, method ${answer.method}, preset ${answer.preset}.`);
  return `${parts.join("\n\n")}\n`;
}

function formatEntry(entry) {
  const via = (entry.via || []).map((bridge) => escapeMarkdown(bridge.title || bridge.id));
  const implied = ["implied", "meaning"].includes(entry.kind) ? ` (${entry.kind === "meaning" ? "by meaning" : "implied"}${via.length ? ` through ${via.join("; ")}` : ""})` : "";
  const place = entry.evidence[0];
  return `- **${escapeMarkdown(entry.display)}**${implied}${place ? `: ${escapeMarkdown(place.snippet)}` : ""}`;
}
