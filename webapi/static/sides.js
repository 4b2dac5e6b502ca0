/* The two sides of a comparison: in the address as on the shell, in a request as JSON.

   a=ID  a=id:ID  a=search:…  a=query:…  a=text:…  a=ids:x,y  or several a=… for a set. What is too long for
   a request line stands behind the # instead, where only the browser sees it. */

const FORMS = ["id", "ids", "search", "query", "text"];
const MOST_IN_QUERY = 1500;

export function parseSide(values) {
  if (!values.length) return null;
  const parts = values.map((value) => {
    const colon = value.indexOf(":");
    const form = FORMS.includes(value.slice(0, colon)) ? value.slice(0, colon) : "";
    return form ? { form, rest: value.slice(colon + 1) } : { form: "id", rest: value };
  });
  if (parts.length > 1) return set(parts.map((part) => part.rest));
  const [{ form, rest }] = parts;
  if (form === "ids") return set(rest.split(",").map((id) => id.trim()));
  return rest.trim() ? { [form]: rest } : null;
}

function set(ids) {
  const kept = [...new Set(ids.filter(Boolean))];
  return kept.length ? { ids: kept } : null;
}

export function writeSide(side) {
  if (!side) return [];
  if (side.ids) return side.ids.map((id) => `id:${id}`);
  const [[form, content]] = Object.entries(side);
  return [`${form}:${content}`];
}

/** {index, a, b, method, preset, sort, show, phrase, graph} from the address. */
export function readView() {
  const given = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) given.append(name, value);
  const one = (name, otherwise, allowed) => (allowed.includes(given.get(name)) ? given.get(name) : otherwise);
  return {
    index: given.get("index") || "",
    a: parseSide(given.getAll("a")),
    b: parseSide(given.getAll("b")),
    method: given.get("method") || "cda",
    preset: given.get("preset") || "default",
    sort: one("sort", "rank", ["rank", "name", "count", "relevance"]),
    show: one("show", "all", ["all", "shared", "implied"]),
    phrase: given.get("phrase") || "",
    graph: given.get("graph") === "1",
  };
}

export function writeView(view) {
  const query = new URLSearchParams();
  const hidden = new URLSearchParams();
  if (view.index) query.set("index", view.index);
  for (const name of ["a", "b"]) {
    const written = writeSide(view[name]);
    const long = new URLSearchParams(written.map((value) => [name, value])).toString().length > MOST_IN_QUERY;
    for (const value of written) (long ? hidden : query).append(name, value);
  }
  if (view.method !== "cda") query.set("method", view.method);
  if (view.preset !== "default") query.set("preset", view.preset);
  if (view.sort !== "rank") query.set("sort", view.sort);
  if (view.show !== "all") query.set("show", view.show);
  if (view.phrase) query.set("phrase", view.phrase);
  if (view.graph) query.set("graph", "1");
  return `/compare?${query}${hidden.size ? `#${hidden}` : ""}`;
}

/** The parts of a search: words, one facet and dates, for the form; what it does not know stays in the words. */
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
