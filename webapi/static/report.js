/* A comparison to take along. */

const plain = (text) => text.replace(/([\\`*_[\]<>|#])/g, "\\$1").replace(/\s+/g, " ");

/** The comparison as Markdown, with the address that reproduces it. */
export function markdown(answer, address) {
  const names = { a: title(answer.a), b: title(answer.b) };
  const lists = [
    ["Both", answer.common],
    [`Only ${names.a}`, answer.distinct_a],
    [`Only ${names.b}`, answer.distinct_b],
  ];
  const parts = [`# ${plain(names.a)} / ${plain(names.b)}`, plain(answer.summary)];
  for (const [name, entries] of lists) {
    if (entries.length) parts.push(`## ${plain(name)}`, entries.map(line).join("\n"));
  }
  parts.push(`[This comparison](<${address}>): index ${plain(answer.index)}, method ${answer.method}, preset ${answer.preset}.`);
  return `${parts.join("\n\n")}\n`;
}

function line(entry) {
  const via = (entry.via || []).map((bridge) => plain(bridge.title || bridge.id));
  const implied = entry.kind === "implied" ? ` (implied${via.length ? ` through ${via.join("; ")}` : ""})` : "";
  const place = entry.evidence[0];
  return `- **${plain(entry.display)}**${implied}${place ? `: ${plain(place.snippet)}` : ""}`;
}

function period(written, since, until = since) {
  if (since && until) return since === until ? since : `${since} – ${until}`;
  return since ? `since ${since}` : `until ${until}`;
}

/** What a side is called on the page. */
export function title(side) {
  if (side.kind === "set") return side.title.replace(/\bdate:([\d-]*)(?:\.\.([\d-]*))?/, period).replace(/\b\w+:"([^"]*)"/g, "$1");
  if (side.title) return side.title;
  return side.ids.length > 1 ? `${side.ids.length} documents` : side.ids[0] || side.kind;
}
