/* The address of the compare page, and the two sides in it: written as on the command line, sent as JSON.

   a=ID  a=id:ID  a=search:…  a=query:…  a=text:…  a=ids:x,y  or several a=… for a set. What is too long for
   a request line comes after the # instead, where only the browser sees it. */

const FORMS = ["id", "ids", "search", "query", "text"];
const MAX_QUERY_LENGTH = 1500;

export function parseSide(values) {
  if (!values.length) return null;
  const parts = values.map((value) => {
    const colon = value.indexOf(":");
    const form = FORMS.includes(value.slice(0, colon)) ? value.slice(0, colon) : "";
    return form ? { form, rest: value.slice(colon + 1) } : { form: "id", rest: value };
  });
  if (parts.length > 1) return makeSetSide(parts.map((part) => part.rest));
  const [{ form, rest }] = parts;
  if (form === "ids") return makeSetSide(rest.split(",").map((id) => id.trim()));
  return rest.trim() ? { [form]: rest } : null;
}

function makeSetSide(values) {
  const ids = [...new Set(values.filter(Boolean))];
  return ids.length ? { ids } : null;
}

export function formatSide(side) {
  if (!side) return [];
  if (side.ids) return side.ids.map((id) => `id:${id}`);
  const [[form, content]] = Object.entries(side);
  return [`${form}:${content}`];
}

/** Read {index, a, b, method, preset, sort, show, phrase, graph} from the address. */
export function readView() {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) parameters.append(name, value);
  const choose = (name, otherwise, allowed) => (allowed.includes(parameters.get(name)) ? parameters.get(name) : otherwise);
  return {
    index: parameters.get("index") || "",
    a: parseSide(parameters.getAll("a")),
    b: parseSide(parameters.getAll("b")),
    method: parameters.get("method") || "cda",
    preset: parameters.get("preset") || "default",
    sort: choose("sort", "rank", ["rank", "name", "count", "relevance"]),
    show: choose("show", "all", ["all", "shared", "implied"]),
    phrase: parameters.get("phrase") || "",
    graph: parameters.get("graph") === "1",
  };
}

export function writeView(view) {
  const query = new URLSearchParams();
  const hidden = new URLSearchParams();
  if (view.index) query.set("index", view.index);
  for (const name of ["a", "b"]) {
    const values = formatSide(view[name]);
    const long = new URLSearchParams(values.map((value) => [name, value])).toString().length > MAX_QUERY_LENGTH;
    for (const value of values) (long ? hidden : query).append(name, value);
  }
  if (view.method !== "cda") query.set("method", view.method);
  if (view.preset !== "default") query.set("preset", view.preset);
  if (view.sort !== "rank") query.set("sort", view.sort);
  if (view.show !== "all") query.set("show", view.show);
  if (view.phrase) query.set("phrase", view.phrase);
  if (view.graph) query.set("graph", "1");
  return `/compare?${query}${hidden.size ? `#${hidden}` : ""}`;
}

/** Split a search into words, one facet and dates, for the form; other filters stay in the words. */
export function splitSearch(written) {
  const out = { words: [], facet: "", since: "", until: "" };
  for (const [whole, name, quoted, bare] of (written || "").matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? bare;
    const range = name === "date" && /^(\d{4}-\d\d-\d\d)?(\.\.)?(\d{4}-\d\d-\d\d)?$/.exec(value);
    if (range) {
      out.since = range[1] || "";
      out.until = range[2] ? range[3] || "" : range[1] || "";
    } else if (name && name !== "date" && !out.facet) out.facet = `${name}:${value}`;
    else out.words.push(whole);
  }
  return { ...out, words: out.words.join(" ") };
}

export function joinSearch({ words, facet, since, until }) {
  const parts = [words.trim()];
  if (facet) {
    const colon = facet.indexOf(":");
    const value = facet.slice(colon + 1).replaceAll('"', "");
    parts.push(`${facet.slice(0, colon)}:${/\s/.test(value) ? `"${value}"` : value}`);
  }
  if (since || until) parts.push(`date:${since}..${until}`);
  return parts.filter(Boolean).join(" ");
}

function formatPeriod(match, since, until = since) {
  if (since && until) return since === until ? since : `${since} – ${until}`;
  return since ? `since ${since}` : `until ${until}`;
}

/** Return the name of a side of an answer. */
export function formatSideTitle(side) {
  if (side.kind === "set") return side.title.replace(/\bdate:([\d-]*)(?:\.\.([\d-]*))?/, formatPeriod).replace(/\b\w+:"([^"]*)"/g, "$1");
  if (side.title) return side.title;
  return side.ids.length > 1 ? `${side.ids.length} documents` : side.ids[0] || side.kind;
}
