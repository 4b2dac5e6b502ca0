/* Names of the fields of an index: title, text, date and url in one of ours; an attached index is searched in its
   source, which has names of its own. */

import { getJson } from "./api.js";

const MAX_FACETS = 8;
const descriptions = new Map();

/** Return {fields: {title, text, date, url}, facets: [{field, name}], …} of an index; requested once. */
export function describeIndex(index) {
  if (!descriptions.has(index)) {
    const request = getJson(`/v1/indexes/${encodeURIComponent(index)}`).then((info) => ({ ...info, facets: info.facets.slice(0, MAX_FACETS) }));
    descriptions.set(index, request);
    request.catch(() => descriptions.delete(index));
  }
  return descriptions.get(index);
}

/** Return the query for words in title and text; a source would search all its fields. */
export function matchWords(query, { fields }) {
  const names = [fields.title, fields.text].filter(Boolean);
  return { multi_match: names.length ? { query, fields: names } : { query } };
}

/** Return the name of a facet on the page. */
export const getFacetLabel = (facet) => facet.name ?? facet.field.replace(/\.keyword$/, "");

/** Return the value under a name, or under a path into nested objects. */
export function getValueAt(record, path) {
  if (!path || record === null || typeof record !== "object") return undefined;
  if (path in record) return record[path];
  const dot = path.indexOf(".");
  return dot < 0 ? undefined : getValueAt(record[path.slice(0, dot)], path.slice(dot + 1));
}

const toText = (value) => (Array.isArray(value) ? value.join("\n") : value === undefined || value === null ? "" : String(value));

function toIsoDate(value) {
  const date = typeof value === "number" ? new Date(value) : null;
  return date ? (Number.isNaN(date.getTime()) ? "" : date.toISOString()) : toText(value);
}

/** Return a hit with the same names for its parts, whatever its index calls them. */
export function toResult(hit, { fields, facets }) {
  const source = hit._source || {};
  const getValues = (facet) => [getValueAt(source, facet.field.replace(/\.keyword$/, ""))].flat().filter((one) => one !== undefined && one !== null);
  return {
    id: hit._id,
    title: toText(getValueAt(source, fields.title)).trim(),
    text: toText(getValueAt(source, fields.text)),
    date: toIsoDate(getValueAt(source, fields.date)),
    url: toText(getValueAt(source, fields.url)),
    facets: facets.map((facet) => ({ label: getFacetLabel(facet), values: getValues(facet).map(String) })),
    fragments: hit.highlight?.[fields.text] || [],
    foundBy: hit._found_by || [],
    why: hit.why || {},
  };
}
