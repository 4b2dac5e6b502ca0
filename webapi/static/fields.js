/* What an index calls its fields: ours are title, text, date and url; an attached one is searched in its source, which
   has names of its own. */

import { get } from "./api.js";

const MOST_FACETS = 8;
const known = new Map();

/** {fields: {title, text, date, url}, facets: [{field, name}], …}; asked for once. */
export function about(index) {
  if (!known.has(index)) {
    const asked = get(`/v1/indexes/${encodeURIComponent(index)}`).then((told) => ({ ...told, facets: told.facets.slice(0, MOST_FACETS) }));
    known.set(index, asked);
    asked.catch(() => known.delete(index));
  }
  return known.get(index);
}

/** How a facet is called on the page. */
export const facetLabel = (facet) => facet.name ?? facet.field.replace(/\.keyword$/, "");

/** The value under a name, or under a path into nested objects. */
export function valueAt(record, path) {
  if (!path || record === null || typeof record !== "object") return undefined;
  if (path in record) return record[path];
  const dot = path.indexOf(".");
  return dot < 0 ? undefined : valueAt(record[path.slice(0, dot)], path.slice(dot + 1));
}

const text = (value) => (Array.isArray(value) ? value.join("\n") : value === undefined || value === null ? "" : String(value));

function day(value) {
  const date = typeof value === "number" ? new Date(value) : null;
  return date ? (Number.isNaN(date.getTime()) ? "" : date.toISOString()) : text(value);
}

/** A hit as the page shows it, whatever its index calls the parts. */
export function shaped(hit, { fields, facets }) {
  const source = hit._source || {};
  const words = (facet) => [valueAt(source, facet.field.replace(/\.keyword$/, ""))].flat().filter((one) => one !== undefined && one !== null);
  return {
    id: hit._id,
    title: text(valueAt(source, fields.title)),
    text: text(valueAt(source, fields.text)),
    date: day(valueAt(source, fields.date)),
    url: text(valueAt(source, fields.url)),
    facets: facets.map((facet) => ({ label: facetLabel(facet), values: words(facet).map(String) })),
    fragments: hit.highlight?.[fields.text] || [],
    why: hit.why || {},
  };
}
