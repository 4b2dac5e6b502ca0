/* <why-this-result>: shows why a hit is among the results. One file without dependencies; see docs/element.md.

   <why-this-result endpoint="https://why.example" index="papers" hit="doc-1" query="web graph"></why-this-result> */
(() => {
  "use strict";
  const NAME = "why-this-result";
  if (customElements.get(NAME)) return;

  const HERE = document.currentScript?.src ? new URL(document.currentScript.src).origin : location.origin;
  const MOST_HITS = 50;
  const MOST_WORDS = 20;
  const LEAST_SCORE = 0.5; // of a phrase that only repeats a word of the query
  const UNKNOWN = { unknown: true }; // the reasons of a hit that was deleted, or is not in the index yet
  const LISTS = ["matched", "common", "distinct_a", "distinct_b"];
  const KINDS = {
    shared: ["=", "in both"],
    implied: ["≈", "implied: only one contains it, related documents connect it to the other"],
    meaning: ["≈", "by meaning: only the result contains it, and the query is close to it"],
    here: ["+", "only here"],
    there: ["−", "only there"],
  };
  const WORDS = {
    title: "Why this result",
    waiting: "Loading reasons …",
    loading: "Loading the evidence …",
    first: "This is the first result.",
    nothing: "Nothing stands out.",
    unshared: "Nothing stands out that it shares with the query.",
    unsupported: "There is no passage to show.",
    unknown: "It is not in the index.",
    gone: "A document of this comparison is no longer in the index.",
    again: "Try again",
    compare: "Compare side by side",
    close: "Close",
    provisional: "provisional",
    source: {
      changed: "Changed in the source since it was indexed.",
      deleted: "No longer in the source.",
      unknown: "It is not known whether it has changed since it was indexed.",
    },
    found: "found",
    lacking: "not found",
    missing: "Not found",
    passage: "Nearest sentence: ",
    query: { matched: "Matches", common: "Related", distinct_a: "Sets it apart" },
    document: { common: "Shared", distinct_a: "Only here", distinct_b: "Only there" },
    page: { common: "Shared with the page", distinct_a: "Sets it apart" },
    above: { distinct_b: "Only the result above", distinct_a: "Only this result", common: "Both" },
  };

  const STYLE = `
:host{--_ink:var(--why-ink,light-dark(#1f2430,#e8e6e1));--_muted:var(--why-muted,light-dark(#5a6070,#a8acb8));
--_line:var(--why-line,light-dark(#d9d6cf,#3b4050));--_surface:var(--why-surface,light-dark(#fff,#1d212b));
--_common:var(--why-common,light-dark(#0b6e5c,#5fd3b8));--_here:var(--why-here,light-dark(#2f52b8,#9db4ff));
--_there:var(--why-there,light-dark(#9a4a0c,#f0b27a));
display:block;container-type:inline-size;color:var(--_ink);font:var(--why-font,inherit);font-size:var(--why-size,.875rem);line-height:1.4}
:host([hidden]){display:none}
.all{display:grid;gap:.3rem}
.list{display:flex;align-items:center;gap:.5rem;min-height:1.9rem;min-width:0}
.label{flex:none;width:var(--why-label-width,auto);color:var(--_muted);font-size:.8125rem}
ul{position:relative;display:flex;gap:.375rem;margin:0;padding:.125rem;list-style:none;overflow-x:auto;min-width:0;scrollbar-width:none}
ul::-webkit-scrollbar{display:none}
li{flex:0 1 auto;min-width:3.4rem;display:flex}
button,a{font:inherit;color:inherit}
.shared,.implied,.meaning{--c:var(--_common)}
.chip{position:relative;display:inline-flex;align-items:center;gap:.35em;min-width:0;max-width:18rem;margin:0;
padding:.1em .7em;border:1px solid var(--c);border-radius:var(--why-radius,999px);background:var(--_surface);
color:var(--c);cursor:pointer;white-space:nowrap;transition:background-color .15s}
.chip span:nth-child(2){overflow:hidden;text-overflow:ellipsis}
.chip:hover{background:color-mix(in srgb,var(--c) 10%,var(--_surface))}
.chip[aria-expanded=true]{background:color-mix(in srgb,var(--c) 18%,var(--_surface));border-width:2px;margin:-1px 0}
.chip.implied,.chip.meaning{border-style:dashed}
.here{--c:var(--_here)}
.there{--c:var(--_there)}
.chip.here,.chip.there{border-radius:var(--why-radius-distinct,.35rem)}
:host([provisional]) .chip{opacity:.78}
.word{padding:.1em .7em;border:1px solid var(--_common);border-radius:var(--why-radius,999px);white-space:nowrap;
background:color-mix(in srgb,var(--_common) 8%,var(--_surface));color:var(--_common);font-weight:600}
.word.lacking{border-color:transparent;background:none;color:var(--_muted);font-weight:inherit}
.word.lacking s{text-decoration-thickness:1px}
.mark{font-weight:700;font-family:ui-monospace,monospace}
:focus-visible{outline:2px solid var(--_here);outline-offset:1px}
.ghost{height:1.6rem;width:7rem;border-radius:999px;background:var(--_line);opacity:.5;animation:why 1.4s ease-in-out infinite alternate}
@keyframes why{to{opacity:.2}}
.said{margin:0;color:var(--_muted)}
.loading{display:flex;align-items:center;gap:.5rem}
.evidence{border-inline-start:3px solid var(--c,var(--_line));padding:.25rem .75rem;margin:.25rem 0;overflow-wrap:anywhere}
.evidence p{margin:.2rem 0}
.evidence .kind{color:var(--_muted)}
blockquote{margin:.3rem 0;padding:0}
blockquote b{color:var(--_muted);font-weight:600;margin-inline-end:.5em}
mark{background:light-dark(#ffe9a8,#6b5312);color:inherit;border-radius:.15em;padding:0 .1em}
.via{margin:.3rem 0;padding:0 0 0 1.1em;display:block;list-style:disc}
.via li{display:list-item}
.share{color:var(--c);font-weight:600}
.plain{border:0;background:none;padding:.1em .2em;color:var(--_here);cursor:pointer;text-decoration:underline}
.hide{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none}
@container (max-width:30rem){.list{flex-wrap:wrap;gap:.1rem .5rem}.label{width:100%}ul{flex-basis:100%;flex-wrap:wrap;overflow:visible}li{max-width:100%}}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
@media (forced-colors:active){.chip[aria-expanded=true]{outline:2px solid}}`;
  const LIGHT = "::highlight(why-phrase){background-color:#ffe08a;color:#1f2430}";

  let sheet;
  function styles() {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      if (window.Highlight && CSS.highlights) {
        const light = new CSSStyleSheet();
        light.replaceSync(LIGHT);
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, light];
      }
    }
    return [sheet];
  }

  /** Make an element; strings become text, never markup. */
  function make(tag, props = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value != null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child != null));
    return made;
  }

  const reflect = (element, name, value) => (value == null ? element.removeAttribute(name) : element.setAttribute(name, value));
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

  // ---- phrases in running text -------------------------------------------------------------

  const LETTER = "[\\p{L}\\p{N}]";
  const quote = (text) => text.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&");
  const stem = (word) =>
    word.length < 4 ? `${quote(word)}(?:e?s)?` : `${quote(word.slice(0, Math.max(3, word.length - 2)))}${LETTER}{0,5}`;

  /** A regular expression for a phrase in its usual inflections. */
  function pattern(entry) {
    const written = [entry.display, entry.phrase, ...(entry.also || [])].filter(Boolean);
    const forms = new Set(written.flatMap((form) => form.split(/@@| \+ /)).map((form) => form.trim().toLowerCase()));
    const sources = [...forms].filter(Boolean).map((form) => {
      const words = form.match(/[\p{L}\p{N}]+/gu) || [];
      return words.map(stem).join("[^\\p{L}\\p{N}]{1,3}");
    });
    const all = sources.filter(Boolean).sort((one, other) => other.length - one.length);
    return all.length ? new RegExp(`(?<!${LETTER})(?:${all.join("|")})(?!${LETTER})`, "giu") : /(?!)/g;
  }

  /** Return the text as nodes, with matches of the pattern in <mark>. */
  function marked(text, found) {
    const out = [];
    let at = 0;
    for (const match of text.matchAll(found)) {
      out.push(text.slice(at, match.index), make("mark", { part: "found" }, match[0]));
      at = match.index + match[0].length;
    }
    return [...out, text.slice(at)];
  }

  /** Leave out places whose snippets overlap an earlier one. */
  const apart = (places) =>
    places.filter((one, at) => !places.slice(0, at).some((other) =>
      ["side", "id", "field"].every((name) => one[name] === other[name]) && Math.abs(one.start - other.start) < 80));

  // ---- the reasons of a hit: words of the query, and phrases ----------------------------------

  /** Name the lists as in a comparison; a hit of a page has shorter names. */
  const named = (answer) => answer && { ...answer, distinct_a: answer.distinct_a ?? answer.distinct, distinct_b: answer.distinct_b ?? answer.distinct_of_other };

  const split = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  /** Whether two words are the same but for an ending of up to two letters, or "ing". */
  const same = (one, other) => {
    const [short, long] = one.length < other.length ? [one, other] : [other, one];
    return one === other || (short.length > 2 && long.startsWith(short) && (long.length - short.length < 3 || long === `${short}ing`));
  };
  const write = ({ word, as }) => (as.toLowerCase() === word.toLowerCase() ? word : `${word} (${as})`);
  const covers = (words, { word, as }) => [word, as].flatMap(split).some((form) => words.some((one) => same(one, form)));

  /** Return the words and shared phrases to show: phrases with a word of the query (`found`) before others, no word
      that is part of a phrase, and no weak phrase that only repeats a word. */
  function distil({ matched = [], common = [] }, most = Infinity) {
    const written = (entry) => (entry.kind !== "shared" ? [] : split(`${entry.display} ${entry.phrase}`));
    const found = new Set(common.filter((entry) => matched.some((one) => covers(written(entry), one))));
    const repeats = (entry) => entry.score < LEAST_SCORE && found.has(entry) && split(entry.display).length === 1;
    const phrases = [...found, ...common.filter((entry) => !found.has(entry))].filter((entry) => !repeats(entry)).slice(0, most);
    const told = phrases.flatMap(written);
    return { matched: matched.filter((one) => !covers(told, one)), common: phrases, found: phrases.filter((entry) => found.has(entry)) };
  }

  function highlight(roots, found) {
    if (!window.Highlight || !CSS.highlights) return;
    const ranges = [];
    for (const root of found ? roots : []) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const match of node.data.matchAll(found)) {
          const range = new Range();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          ranges.push(range);
        }
      }
    }
    if (ranges.length) CSS.highlights.set("why-phrase", new Highlight(...ranges));
    else CSS.highlights.delete("why-phrase");
  }

  // ---- requests: one for all elements with the same question -------------------------------

  class Trouble extends Error {
    constructor(message, code, status) {
      super(message);
      Object.assign(this, { code, status });
    }
  }

  async function call(url, init) {
    for (let tries = 1; ; tries += 1) {
      let response;
      try {
        response = await WhyThisResult.fetch(url, init);
      } catch {
        throw new Trouble("The server cannot be reached.", "unreachable", 0);
      }
      const pause = Number(response.headers.get("Retry-After")) || 1;
      let body = null;
      try {
        body = await response.json();
      } catch {
        /* handled below */
      }
      if (response.ok && body) return [body, pause, response.status];
      if ((response.status !== 429 && response.status !== 503) || tries > 2) {
        const said = body?.detail || `The server responded with status ${response.status}.`;
        throw new Trouble(response.status === 429 ? `Too many requests. ${said}` : said, body?.code, response.status);
      }
      await sleep(1000 * Math.min(pause, 10));
    }
  }

  async function explain(endpoint, question, elements) {
    const address = `${endpoint}/v1/explanations`;
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) };
    const open = new Set(elements);
    const still = () => [...open].some((one) => one.isConnected);
    try {
      let [reply, pause] = await call(address, post);
      for (let asked = 1; ; ) {
        for (const entry of reply.explanations) {
          if (entry.state !== "done") continue;
          for (const one of open) {
            if (one.hit !== entry.hit) continue;
            open.delete(one);
            one._page = reply.explanations.map(({ hit }) => hit);
            one._take(entry, elements.length, reply.sources);
          }
        }
        if (reply.state === "done" || !open.size) break;
        await sleep(1000 * pause);
        if (!still()) return;
        try {
          [reply, pause] = await call(`${address}/${reply.id}`, {});
        } catch (error) {
          if ((error.status !== 409 && error.status !== 410) || (asked += 1) > 2) throw error;
          [reply, pause] = await call(address, post); // the job was cancelled or has expired
        }
      }
      for (const one of open) one._take(UNKNOWN, 1);
    } catch (error) {
      const unknown = error.code === "unknown-document" && !question.document; // none of the hits is in the index
      for (const one of open) unknown ? one._take(UNKNOWN, 1) : one._fail(error);
    }
  }

  /** Return the comparison at an address; it may have to be computed first. */
  async function fetchComparison(endpoint, path, still) {
    const init = { headers: { Prefer: "wait=10" } };
    let [reply, pause, status] = await call(endpoint + path, init);
    while (status === 202 && still()) {
      await sleep(1000 * pause);
      [reply, pause, status] = await call(`${endpoint}/v1/comparisons/${reply.id}`, init);
    }
    return reply;
  }

  const enlisted = new Set();
  function enlist(element) {
    if (!enlisted.size) setTimeout(flush, 10);
    enlisted.add(element);
  }

  function flush() {
    const ready = [...enlisted].filter((one) => one.isConnected);
    enlisted.clear();
    ready.sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    const groups = new Map();
    for (const one of ready) {
      const { endpoint, index, against, query, documentId } = one;
      const asked = { index, against, unknown: "skip" };
      if (against === "query") asked.query = query;
      if (against === "document") asked.document = documentId;
      const key = JSON.stringify([endpoint, asked]);
      let batches = groups.get(key);
      if (!batches) groups.set(key, (batches = []));
      let batch = batches.at(-1);
      const above = against === "above" ? one.getAttribute("above") : "";
      if (!batch || batch.hits.length >= MOST_HITS || (above && batch.hits.at(-1) !== above)) {
        batches.push((batch = { endpoint, asked, hits: above ? [above] : [], elements: [] }));
      }
      if (!batch.hits.includes(one.hit)) batch.hits.push(one.hit);
      batch.elements.push(one);
    }
    for (const batch of [...groups.values()].flat()) {
      explain(batch.endpoint, { ...batch.asked, hits: batch.hits }, batch.elements);
    }
  }

  // ---- the element ----------------------------------------------------------------------------

  class WhyThisResult extends HTMLElement {
    static observedAttributes = "endpoint index hit query document page above against limit lists".split(" ");
    static words = WORDS;
    static pattern = pattern;
    static apart = apart;
    static distil = distil;
    static fetch = (url, init) => fetch(url, init);

    #reasons = null;
    #comparison = null;
    #fetched = new Map();
    #source = null;
    #rough = null;
    #error = null;
    #chosen = null;
    #asked = "";
    #given = false;
    #root;
    #live;

    constructor() {
      super();
      this.#root = this.attachShadow({ mode: "open" });
      this.#root.adoptedStyleSheets = styles();
      this.#live = make("p", { class: "hide", role: "status", "aria-live": "polite" });
      this.addEventListener("keydown", (event) => event.key === "Escape" && this.#chosen && this.select(null));
    }

    get endpoint() {
      return (this.getAttribute("endpoint") ?? HERE).replace(/\/+$/, "");
    }
    get index() {
      return this.getAttribute("index") || "";
    }
    get hit() {
      return this.getAttribute("hit") || "";
    }
    get query() {
      return this.getAttribute("query") || "";
    }
    get documentId() {
      return this.getAttribute("document") || "";
    }
    // Frameworks set a property if it exists, otherwise an attribute.
    set endpoint(value) {
      reflect(this, "endpoint", value);
    }
    set index(value) {
      reflect(this, "index", value);
    }
    set hit(value) {
      reflect(this, "hit", value);
    }
    set query(value) {
      reflect(this, "query", value);
    }
    set documentId(value) {
      reflect(this, "document", value);
    }
    set against(value) {
      reflect(this, "against", value);
    }
    /** What the hit is compared with: query, document, page or above. */
    get against() {
      const said = this.getAttribute("against");
      return said && WORDS[said]?.common ? said : ["above", "page", "document"].find((name) => this.hasAttribute(name)) || "query";
    }
    get state() {
      return this.getAttribute("state");
    }
    /** Words and phrases without evidence. Setting them shows them without a request. */
    get reasons() {
      return this.#reasons;
    }
    set reasons(value) {
      this.#given = true;
      this._take(value, 1);
    }
    /** The comparison behind the selected phrase, once it is there. Setting one shows it without a request. */
    get comparison() {
      return this.#comparison;
    }
    set comparison(value) {
      this.#given = true;
      this.#comparison = value;
      this._take(value, 1, value?.sources);
    }
    /** How the source of an attached index has the hit now: changed, deleted or unknown; null if as it was attached. */
    get source() {
      return this.#source;
    }
    /** Reasons to show until the answer arrives: {common: […], distinct: […]}. */
    set provisional(lists) {
      this.#rough = named(lists);
      if (this.state !== "ready") this.#render();
    }

    connectedCallback() {
      this.#ask();
    }
    disconnectedCallback() {
      if (this.#chosen) highlight([], null);
    }
    attributeChangedCallback(name, before, after) {
      if (before === after || !this.isConnected) return;
      if (name === "limit" || name === "lists") this.#render();
      else this.#ask();
    }

    /** Send the request again, after an error or a change of the index. */
    refresh() {
      this.#asked = "";
      this.#given = false;
      this.#ask();
    }

    #ask() {
      if (this.#given) return;
      const { endpoint, index, hit, against, query, documentId } = this;
      const asked = JSON.stringify([endpoint, index, hit, against, query, documentId, this.getAttribute("above")]);
      const lacks = !index || !hit || (against === "query" && !query) || (against === "document" && !documentId);
      if (asked === this.#asked || lacks) {
        if (lacks) this.#become(null);
        return;
      }
      this.#asked = asked;
      this.#reasons = this.#comparison = this.#source = this.#error = this.#chosen = null;
      this.#become("waiting");
      enlist(this);
    }

    _take(reasons, together, sources = null) {
      this.#reasons = named(reasons);
      if (reasons !== this.#comparison) this.#comparison = null;
      this.#source = sources?.[this.hit]?.state ?? null;
      this.#error = this.#chosen = null;
      this.#fetched.clear();
      const filled = reasons && (reasons.passage || this.#lists().some(([, entries]) => entries.length));
      this.#become(filled ? "ready" : "empty");
      if (together > 1 && !document.querySelector(`${NAME}[announced]`)) this.setAttribute("announced", "");
      if (this.hasAttribute("announced")) this.#live.textContent = "Reasons loaded.";
    }

    _fail(error) {
      this.#error = error;
      this.#asked = "";
      this.#become("error");
    }

    #become(state) {
      if (state) this.setAttribute("state", state);
      else this.removeAttribute("state");
      this.#render();
      const detail = { state, reasons: this.#reasons, comparison: this.#comparison, source: this.#source, error: this.#error };
      this.dispatchEvent(new CustomEvent("why-state", { bubbles: true, composed: true, detail }));
    }

    /** [name, entries] of the lists to show. */
    #lists() {
      const labels = WORDS[this.against];
      const wanted = (this.getAttribute("lists") || Object.keys(labels).join(" ")).split(/\s+/);
      const most = Number(this.getAttribute("limit") ?? 3) || 1000;
      const source = this.#reasons || this.#rough || {};
      const names = wanted.map((name) => (name === "distinct" ? "distinct_a" : name)).filter((name) => LISTS.includes(name));
      const told = names.includes("common") ? { ...source, ...distil(source, most) } : source;
      if (told !== source && !told.common.length && !names.includes("matched")) names.unshift("matched"); // the words are all there is
      const shown = names.filter((name) => name !== "matched" || source.matched);
      if (told !== source && shown.includes("matched")) {
        told.matched = [...told.found, ...told.matched];
        told.common = told.common.filter((entry) => !told.found.includes(entry));
      }
      if (shown[0] === "matched" && shown[1] === "common" && !told.matched.length) shown.splice(0, 2, "common", "matched"); // what it lacks comes last
      return shown.map((name) => [name, (told[name] || []).slice(0, name === "matched" ? MOST_WORDS : most)]);
    }

    #render() {
      const state = this.state;
      const rough = !this.#reasons && state === "waiting" && this.#rough;
      this.toggleAttribute("provisional", Boolean(rough));
      const box = make("div", {
        class: "all",
        part: "box",
        role: "group",
        "aria-label": this.getAttribute("label") || WORDS.title,
        "aria-busy": String(state === "waiting"),
      });
      box.append(make("slot", { name: "before" }));
      if (state === "ready" || rough) box.append(...this.#lists().flatMap(([name, entries]) => this.#list(name, entries)));
      else if (state === "waiting") box.append(...this.#lists().map(([name]) => this.#ghosts(name)));
      else if (state === "empty") box.append(this.#said("empty", ...this.#whyEmpty()));
      else if (state === "error") box.append(this.#said("error", `${this.#error.message} `, null, this.#retry()));
      const source = (state === "ready" || state === "empty") && WORDS.source[this.#source];
      if (source) box.append(make("p", { class: "said", part: "source" }, source));
      if (this.#chosen && state === "ready") box.append(this.#evidence(...this.#chosen));
      if (state === "ready" && this.hasAttribute("link")) box.append(this.#link());
      box.append(make("slot", { name: "a" }), make("slot", { name: "b" }), make("slot", { name: "after" }));
      const focused = this.#root.activeElement?.dataset.key;
      this.#root.replaceChildren(box, this.#live);
      if (focused) this.#root.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }

    #label(name, text = null) {
      return make("span", { class: "label", part: "label", id: name }, text || this.getAttribute(`label-${name}`) || WORDS[this.against][name] || name);
    }

    #list(name, entries) {
      if (name === "matched") return this.#words(entries);
      const source = this.#reasons || this.#rough;
      const passage = name === "common" && source.passage ? this.#passage(source.passage) : "";
      if (name === "common" && !entries.length && (source.matched?.length || passage)) return passage; // its words are the reason
      const chips = entries.map((entry) => make("li", {}, this.#chip(name, entry)));
      const none = chips.length ? null : make("li", { class: "said" }, this.#nothing(name));
      const list = make("ul", { part: "chips", "aria-labelledby": name }, ...chips, none);
      return [make("div", { class: "list", part: `list list-${name}` }, this.#label(name), list), passage];
    }

    /** The phrases and words of the query that the hit contains, then the words that it lacks. */
    #words(matched) {
      const source = this.#reasons || this.#rough;
      const lacks = source.matched.length || source.common?.length ? (source.lacks || []).slice(0, MOST_WORDS) : [];
      if (!matched.length && !lacks.length) return "";
      const item = (kind, shown) =>
        make("li", {}, make("span", { class: `word ${kind}`, part: `word word-${kind}`, dir: "auto" }, shown),
          make("span", { class: "hide" }, ` ${WORDS[kind]}`));
      const found = matched.map((one) => (one.phrase ? make("li", {}, this.#chip("common", one)) : item("found", write(one))));
      const missing = lacks.map((word) => item("lacking", make("s", {}, word)));
      const list = make("ul", { part: "words", "aria-labelledby": "matched" }, ...found, ...missing);
      const label = this.#label("matched", matched.length ? null : WORDS.missing);
      return make("div", { class: "list", part: "list list-matched" }, label, list);
    }

    #passage({ text }) {
      const line = text.replace(/\s+/g, " ");
      const shown = line.length > 200 ? `${line.slice(0, 200).replace(/ \S{0,99}$/, "")}…` : line;
      return make("p", { class: "said", part: "passage" }, make("span", { class: "hide" }, WORDS.passage), make("span", { dir: "auto" }, `“${shown}”`));
    }

    #nothing(name) {
      return name === "common" && this.against === "query" ? WORDS.unshared : WORDS.nothing;
    }

    #ghosts(name) {
      const slot = make("slot", { name: "waiting" }, make("span", { class: "hide" }, WORDS.waiting));
      const ghosts = [6, 8, 5].map(() => make("li", { class: "ghost", "aria-hidden": "true" }));
      return make("div", { class: "list", part: `list list-${name}` }, this.#label(name), slot, make("ul", { "aria-hidden": "true" }, ...ghosts));
    }

    #kind(name, entry) {
      if (name === "common") return entry.kind in KINDS ? entry.kind : "shared";
      return name === "distinct_b" ? "there" : "here";
    }

    #chip(name, entry) {
      const kind = this.#kind(name, entry);
      const [sign, said] = KINDS[kind];
      const open = this.#chosen?.[0] === name && this.#chosen[1].phrase === entry.phrase;
      return make(
        "button",
        {
          class: `chip ${kind}`,
          part: `chip chip-${kind}`,
          type: "button",
          title: `${entry.display}: ${said}`,
          "aria-expanded": String(Boolean(open)),
          "data-key": `${name} ${entry.phrase}`,
          onclick: () => this.select(open ? null : entry.phrase, name),
        },
        make("span", { class: "mark", part: "mark", "aria-hidden": "true" }, sign),
        make("span", { part: "phrase", dir: "auto" }, entry.display),
        make("span", { class: "hide" }, `, ${said}${this.hasAttribute("provisional") ? `, ${WORDS.provisional}` : ""}`),
      );
    }

    /** Show the evidence of a phrase, fetched when first needed, and highlight it in the texts. Null deselects. */
    select(phrase, list = null) {
      this.#chosen = null;
      for (const name of phrase === null ? [] : list ? [list] : LISTS) {
        const entry = (this.#reasons?.[name] || []).find((one) => one.phrase === phrase);
        if (entry && !this.#chosen) this.#chosen = [name, entry];
      }
      const path = this.#path();
      if (path && !this.#fetched.get(path)?.comparison) this.#fetch(path);
      this.#complete();
      this.#emit("why-select");
      if (this.#chosen?.[1].evidence) this.#emit("why-evidence");
    }

    /** The address of the comparison behind the selected phrase; none if its evidence is here. */
    #path() {
      const [name, entry] = this.#chosen || [];
      return name && !entry.evidence ? this.#reasons.href?.[name === "common" ? "common" : "distinct"] : null;
    }

    async #fetch(path) {
      const made = {};
      this.#fetched.set(path, made);
      try {
        made.comparison = await fetchComparison(this.endpoint, path, () => this.isConnected);
      } catch (error) {
        made.error = error;
      }
      if (!this.isConnected) this.#fetched.delete(path); // perhaps not complete
      if (this.#path() !== path || this.#fetched.get(path) !== made) return;
      this.#complete();
      if (!made.error) this.#emit("why-evidence");
    }

    /** Show what is known of the selected phrase. */
    #complete() {
      const path = this.#path();
      const { comparison = null, error } = this.#fetched.get(path) || {};
      if (path) this.#comparison = comparison;
      if (comparison) {
        const [name, entry] = this.#chosen;
        const all = [name, ...LISTS].flatMap((list) => comparison[list] || []);
        const found = all.find((one) => one.phrase === entry.phrase || one.also?.includes(entry.phrase));
        this.#chosen = [name, { evidence: [], ...found, ...entry }];
      }
      this.#render();
      const entry = this.#chosen?.[1];
      highlight(this.#texts(), entry ? pattern(entry) : null);
      const said = entry?.evidence ? `${entry.evidence.length} passages` : error ? error.message : WORDS.loading;
      this.#live.textContent = entry ? `${entry.display}: ${said}` : "";
    }

    #emit(type) {
      const [list, entry] = this.#chosen || [null, null];
      const detail = { phrase: entry?.phrase ?? null, list, entry, comparison: this.#comparison };
      this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
    }

    #texts() {
      const slotted = [...this.#root.querySelectorAll('slot[name="a"],slot[name="b"]')].flatMap((slot) => slot.assignedElements());
      const named = this.getAttribute("texts");
      return named ? [...slotted, ...this.getRootNode().querySelectorAll(named)] : slotted;
    }

    #evidence(name, entry) {
      const kind = this.#kind(name, entry);
      const box = make("div", { class: `evidence ${kind}`, part: "evidence" });
      box.append(make("p", { class: "kind", part: "kind", dir: "auto" }, make("strong", {}, entry.display), ` · ${KINDS[kind][1]}`));
      const path = this.#path();
      if (path) box.append(this.#pending(path));
      else if (!entry.evidence?.length && !entry.via?.length) box.append(make("p", { class: "said" }, WORDS.unsupported));
      const found = pattern(entry);
      const sides = { a: "here", b: this.against === "query" ? "query" : "there" };
      for (const place of apart(entry.evidence || [])) {
        box.append(make("blockquote", { part: "snippet", dir: "auto" }, make("b", {}, sides[place.side]), ...marked(place.snippet, found)));
      }
      if (entry.via?.length) {
        const bridges = entry.via.map((bridge) =>
          make("li", { part: "bridge", dir: "auto" }, bridge.title || bridge.id,
            make("span", { class: "share", part: "share" }, ` ${Math.round(100 * bridge.share)}\u00a0%`),
            bridge.phrases.length ? ` via ${bridge.phrases.join(", ").replaceAll("@@", " + ")}` : ""),
        );
        box.append(make("p", {}, "Connected through"), make("ul", { class: "via", part: "bridges" }, ...bridges));
      }
      box.append(make("slot", { name: "evidence" }));
      box.append(make("button", { class: "plain", part: "close", type: "button", onclick: () => this.#close() }, WORDS.close));
      return box;
    }

    /** What is shown until the evidence is there. */
    #pending(path) {
      const { error } = this.#fetched.get(path);
      if (!error) return make("p", { class: "said loading", part: "loading" }, make("span", { class: "ghost", "aria-hidden": "true" }), WORDS.loading);
      const gone = error.status === 404 || error.status === 410; // of the page or the hit: ask for the reasons anew
      const again = () => {
        if (gone) return this.refresh();
        this.#fetch(path);
        this.#complete();
        return this.#focus();
      };
      return make("p", { class: "said", part: "error", role: "alert" }, `${error.code === "unknown-document" ? WORDS.gone : error.message} `, this.#retry(again));
    }

    /** Focus the chip of the selected phrase. */
    #focus() {
      this.#root.querySelector(`[data-key="${CSS.escape(this.#chosen.map((one) => one.phrase ?? one).join(" "))}"]`)?.focus();
    }

    #close() {
      this.#focus();
      this.select(null);
    }

    /** The sentence of an empty element, and the list it belongs to. */
    #whyEmpty() {
      const said = this.#reasons?.unknown ? WORDS.unknown : this.#reasons?.no_evidence?.detail;
      if (said) return [said, null];
      const name = this.#lists().find(([one]) => one !== "matched")?.[0];
      return [this.against === "above" && !this.#reasons?.href?.common ? WORDS.first : this.#nothing(name), name];
    }

    #said(state, text, list, ...more) {
      const said = make("p", { class: "said", part: state, role: state === "error" ? "alert" : null }, text, ...more);
      return make("slot", { name: state }, make("div", { class: "list" }, list ? this.#label(list) : null, said));
    }

    #retry(again = () => this.refresh()) {
      return make("button", { class: "plain", part: "retry", type: "button", onclick: again }, WORDS.again);
    }

    #link() {
      const sides = { a: [`id:${this.hit}`], b: this.#otherSide() };
      if (!sides.b.length) return "";
      const address = new URL(`${this.endpoint}/compare`, location.href);
      address.searchParams.set("index", this.index);
      for (const name of ["a", "b"]) for (const part of sides[name]) address.searchParams.append(name, part);
      return make("a", { part: "link", href: address.href }, WORDS.compare);
    }

    /** What the hit is compared with, as the compare page writes it; empty if it is not known. */
    #otherSide() {
      if (this.against === "query") return this.query ? [`query:${this.query}`] : [];
      const page = this._page || [];
      const above = this.getAttribute("above") || page[page.indexOf(this.hit) - 1];
      const ids = { document: [this.documentId], above: [above], page: page.filter((id) => id !== this.hit) }[this.against];
      return ids.filter(Boolean).map((id) => `id:${id}`);
    }
  }

  customElements.define(NAME, WhyThisResult);
})();
