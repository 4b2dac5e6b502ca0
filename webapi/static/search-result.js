/* One result: title, snippet and reasons. */

import { make, toSafeUrl } from "./dom.js";
import { markWords } from "./mark-phrases.js";

const MAX_SNIPPET_LENGTH = 260;

/** Make a result. `page`: {state, hits, actions: {tray, explain}, inTray(id)}; `position` in page.hits. */
export function makeResult(page, position) {
  const hit = page.hits[position];
  const id = `hit-${position}`;
  const item = make("li", { class: "result", id, "data-id": hit.id });
  item.append(
    make("h2", { dir: "auto" }, makeTitle(hit, page.state)),
    makeMeta(hit),
    make("p", { class: "snippet", dir: "auto" }, ...makeSnippet(hit)),
    ...makeReasons(page, position, `#${id} .snippet, #${id} h2`),
    makeActions(page, position),
  );
  return item;
}

/** Make a link to the document's own address, or to its comparison with the query. */
function makeTitle(hit, state) {
  const title = hit.title ? markWords(hit.title, "title", hit.why.matched) : [hit.id];
  const url = toSafeUrl(hit.url);
  if (url) return make("a", { href: url, rel: "noopener noreferrer" }, ...title);
  const query = (state.q || "").trim();
  if (!query) return hit.title || hit.id;
  return make("a", { href: `/compare?${new URLSearchParams({ index: state.index, a: `id:${hit.id}`, b: `query:${query}` })}` }, ...title);
}

/** Say which parts of the search found a result. */
function nameParts(parts) {
  if (parts.length > 1) return "found by words and meaning";
  return parts[0] === "words" ? "found by words" : "found by meaning";
}

function makeMeta(hit) {
  const parts = [hit.date && make("time", { datetime: hit.date }, hit.date.slice(0, 10))];
  for (const { label, values } of hit.facets) for (const value of values.slice(0, 3)) parts.push(make("span", { dir: "auto", title: label }, value));
  parts.push(make("code", { title: "id" }, hit.id));
  if (hit.foundBy.length) parts.push(make("span", { class: "found-by" }, nameParts(hit.foundBy)));
  return make("p", { class: "meta" }, ...parts);
}

/** Return up to two fragments with the query's words, as nodes; without any, the beginning of the text. */
function makeSnippet(hit) {
  const whole = hit.text;
  const bare = (one) => one.replace(/[\ue000\ue001]/g, "");
  const { fragments } = hit;
  const first = fragments[0];
  if (!first) {
    const beginning = whole.slice(0, MAX_SNIPPET_LENGTH).replace(/[\ud800-\udbff]$/, "");
    return [...markWords(beginning, "text", hit.why.matched), beginning.length < whole.length ? "…" : ""];
  }
  const said = bare(first);
  const other = fragments.find((one) => !said.includes(bare(one).slice(10, 40)) && !bare(one).includes(said.slice(10, 40)));
  return [first, other].filter(Boolean).flatMap((one, at) => [at || !whole.startsWith(bare(one).slice(0, 20)) ? "… " : "", ...markFragment(one), " "]).concat("…");
}

function markFragment(fragment) {
  return fragment.split("\ue000").flatMap((part, at) => {
    const [found, after] = at ? part.split("\ue001") : ["", part];
    return found ? [make("mark", {}, found), after ?? ""] : [after ?? ""];
  });
}

// It is not in the index as it is in the source. An element asks again for reasons that could not be computed.
function hasNoReasons({ why }) {
  return Boolean(why.detail) && why.state !== "unavailable";
}

function makeWordReasons({ why }) {
  if (!why.matched?.length) return [];
  const made = make("why-this-result", { lists: "matched" });
  made.reasons = why;
  return [made];
}

function makeReasons(page, position, texts) {
  const { state, hits } = page;
  const hit = hits[position];
  if (hasNoReasons(hit)) return [...makeWordReasons(hit), make("p", { class: "muted lacking" }, `No phrases: ${hit.why.detail}.`)];
  const others = hits.filter((one) => !hasNoReasons(one)).length > 1;
  const query = (state.q || "").trim();
  const common = { index: state.index, hit: hit.id, endpoint: "", texts };
  if (state.why === "page" && others) return [make("why-this-result", { ...common, page: true, lists: "common distinct_a" })];
  const isExplainedByQuery = query && state.why !== "document";
  const lists = `${isExplainedByQuery ? "matched common" : ""} ${others ? "distinct_a" : ""}`.trim();
  const found = lists && make("why-this-result", { ...common, ...(query ? { query } : { page: true }), lists });
  if (found && hit.why.state === "done") found.reasons = hit.why;
  else if (found) found.provisional = { matched: [], ...hit.why };
  const byDocument = state.why === "document" && state.doc && state.doc !== hit.id;
  const document = byDocument && make("why-this-result", { ...common, document: state.doc, lists: "common" });
  return [document, found].filter(Boolean);
}

function makeActions(page, position) {
  const hit = page.hits[position];
  const above = page.hits[position - 1];
  const title = hit.title || hit.id;
  const bar = make("p", { class: "actions" });
  if (hasNoReasons(hit)) return bar; // there is nothing to compare it by
  if (above && !hasNoReasons(above)) bar.append(makeWhyLowerButton(page, hit, above));
  const inTray = page.inTray(hit.id);
  bar.append(
    make("button", { type: "button", class: "plain", "aria-pressed": String(inTray), "data-tray": hit.id,
      "aria-label": `${inTray ? "In the tray" : "Compare"}: ${title}`, onclick: () => page.actions.tray(hit) }, inTray ? "In the tray" : "Compare"),
    make("button", { type: "button", class: "plain", "aria-label": `Compare others with this: ${title}`,
      "aria-pressed": String(page.state.why === "document" && page.state.doc === hit.id), onclick: () => page.actions.explain(hit) },
    "Compare others with this"),
  );
  return bar;
}

function makeWhyLowerButton(page, hit, above) {
  const button = make("button", { type: "button", class: "plain", "aria-expanded": "false" }, "Why lower than the result above?");
  button.addEventListener("click", () => {
    const bar = button.parentElement;
    const open = bar.nextElementSibling;
    button.setAttribute("aria-expanded", String(!open));
    if (open) open.remove();
    else bar.after(make("why-this-result", { index: page.state.index, hit: hit.id, endpoint: "", above: above.id, link: true, class: "above" }));
  });
  return button;
}
