/* One result: title, snippet, which words matched, and why it is there. */

import { make, safeUrl } from "./dom.js";
import { pattern } from "./highlight.js";

const SNIPPET = 260;

/** `page`: {state, hits, actions: {tray, explain}, inTray(id)}; `position` in page.hits. */
export function result(page, position) {
  const hit = page.hits[position];
  const id = `hit-${position}`;
  const words = wordsOf(page.state.q);
  const item = make("li", { class: "result", id, "data-id": hit.id });
  item.append(
    make("h2", { dir: "auto" }, titleOf(hit, page.state)),
    meta(hit),
    make("p", { class: "snippet", dir: "auto" }, ...snippet(hit)),
    words.length ? matched(words, hit) : "",
    ...reasons(page, position, `#${id} .snippet, #${id} h2`),
    actions(page, position),
  );
  return item;
}

/** A link to where the document comes from, or to its text with what it shares with the search. */
function titleOf(hit, state) {
  const title = hit.title || hit.id;
  const url = safeUrl(hit.url);
  if (url) return make("a", { href: url, rel: "noopener noreferrer" }, title);
  const query = (state.q || "").trim();
  if (!query) return title;
  return make("a", { href: `/compare?${new URLSearchParams({ index: state.index, a: `id:${hit.id}`, b: `query:${query}` })}` }, title);
}

function meta(hit) {
  const parts = [hit.date && make("time", { datetime: hit.date }, hit.date.slice(0, 10))];
  for (const { label, values } of hit.facets) for (const value of values.slice(0, 3)) parts.push(make("span", { dir: "auto", title: label }, value));
  parts.push(make("code", { title: "id" }, hit.id));
  return make("p", { class: "meta" }, ...parts);
}

/** Up to two places of the query's words, as nodes; without any, the beginning of the text. */
function snippet(hit) {
  const whole = hit.text;
  const bare = (one) => one.replace(/[\ue000\ue001]/g, "");
  const { fragments } = hit;
  const first = fragments[0];
  if (!first) return [whole.length > SNIPPET ? `${whole.slice(0, SNIPPET).replace(/[\ud800-\udbff]$/, "")}…` : whole];
  const said = bare(first);
  const other = fragments.find((one) => !said.includes(bare(one).slice(10, 40)) && !bare(one).includes(said.slice(10, 40)));
  return [first, other].filter(Boolean).flatMap((one, at) => [at || !whole.startsWith(bare(one).slice(0, 20)) ? "… " : "", ...marks(one), " "]).concat("…");
}

function marks(fragment) {
  return fragment.split("\ue000").flatMap((part, at) => {
    const [found, after] = at ? part.split("\ue001") : ["", part];
    return found ? [make("mark", {}, found), after ?? ""] : [after ?? ""];
  });
}

export function wordsOf(query) {
  return [...new Set((query || "").toLowerCase().match(/[\p{L}\p{N}]+/gu) || [])].slice(0, 20);
}

function matched(words, hit) {
  const text = `${hit.title}\n${hit.text}`;
  const signs = words.map((word) => {
    const found = pattern({ display: word }).test(text);
    const said = found ? "found" : "not found";
    return make("span", { class: found ? "word yes" : "word no", dir: "auto" },
      make("span", { "aria-hidden": "true" }, found ? "✓ " : "✗ "), word, make("span", { class: "hide" }, ` ${said}`));
  });
  return make("p", { class: "matched" }, make("span", { class: "label" }, "Your words"), ...signs);
}

// Nothing can be said of it: the index does not have it, or nobody could be asked. A list that failed says so itself.
function lacking({ why }) {
  return Boolean(why.detail) && Object.keys(why.href || {}).length === 0;
}

function reasons(page, position, texts) {
  const { state, hits } = page;
  const hit = hits[position];
  if (lacking(hit)) return [make("p", { class: "muted lacking" }, `No reasons: ${hit.why.detail}.`)];
  const others = hits.filter((one) => !lacking(one)).length > 1;
  const common = { index: state.index, hit: hit.id, endpoint: "", texts };
  const out = [];
  const { why } = hit;
  if (state.why === "document" && state.doc && state.doc !== hit.id) {
    out.push(make("why-this-result", { ...common, document: state.doc, lists: "common", "label-common": "Shares with it" }));
  } else if (state.why === "page" && others) {
    out.push(make("why-this-result", { ...common, page: true, lists: "common" }));
  } else if ((state.q || "").trim() && state.why !== "document") {
    const made = make("why-this-result", { ...common, query: state.q.trim(), lists: "common" });
    made.provisional = { common: why.common || [] };
    out.push(made);
  }
  if (others) {
    const made = make("why-this-result", { ...common, page: true, lists: "distinct_a" });
    made.provisional = { distinct_a: why.distinct || [] };
    out.push(made);
  }
  return out;
}

function actions(page, position) {
  const hit = page.hits[position];
  const above = page.hits[position - 1];
  const title = hit.title || hit.id;
  const bar = make("p", { class: "actions" });
  if (lacking(hit)) return bar; // nothing is known of it to compare
  if (above && !lacking(above)) bar.append(whyLower(page, hit, above));
  const inTray = page.inTray(hit.id);
  bar.append(
    make("button", { type: "button", class: "plain", "aria-pressed": String(inTray), "data-tray": hit.id,
      "aria-label": `${inTray ? "In the tray" : "Compare"}: ${title}`, onclick: () => page.actions.tray(hit) }, inTray ? "In the tray" : "Compare"),
    make("button", { type: "button", class: "plain", "aria-label": `Explain others by this: ${title}`,
      "aria-pressed": String(page.state.why === "document" && page.state.doc === hit.id), onclick: () => page.actions.explain(hit) },
    "Explain others by this"),
  );
  return bar;
}

function whyLower(page, hit, above) {
  const button = make("button", { type: "button", class: "plain", "aria-expanded": "false" }, "Why lower than the one above?");
  button.addEventListener("click", () => {
    const bar = button.parentElement;
    const open = bar.nextElementSibling;
    button.setAttribute("aria-expanded", String(!open));
    if (open) open.remove();
    else bar.after(make("why-this-result", { index: page.state.index, hit: hit.id, endpoint: "", above: above.id, link: true, class: "above" }));
  });
  return button;
}
