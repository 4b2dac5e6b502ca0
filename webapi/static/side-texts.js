/* Both sides' texts, with every phrase of the comparison marked. */

import { fetchDocument } from "./api.js";
import { formatSideTitle } from "./compare-address.js";
import { byId, formatCount, make, toSafeUrl } from "./dom.js";
import { findSpans, markText } from "./mark-phrases.js";

const MAX_TEXT_LENGTH = 20000;
const MAX_MEMBERS = 6;
const MAX_MEMBER_TEXT_LENGTH = 1200;

export class SideTexts {
  /** `select(list, phrase)` is called when a marked phrase is clicked. */
  constructor(answer, view, select) {
    Object.assign(this, { answer, view, select, whole: new Set() });
    this.panels = { a: this.#makePanel("a"), b: this.#makePanel("b") };
    byId("texts").replaceChildren(this.panels.a, this.panels.b);
    this.ready = Promise.all(["a", "b"].map((letter) => this.#fillPanel(letter)));
  }

  #makePanel(letter) {
    const head = make("h3", { dir: "auto" }, make("span", { class: `badge ${letter}` }, letter.toUpperCase()), formatSideTitle(this.answer[letter]));
    const body = make("div", { class: "body", tabindex: "0", role: "group", "aria-label": `Text of ${letter.toUpperCase()}` });
    body.addEventListener("click", (event) => {
      const mark = event.target.closest("mark[data-phrase]");
      if (mark) this.select(mark.dataset.list, mark.dataset.phrase);
    });
    return make("article", { class: `text ${letter}` }, head, body);
  }

  #getLists(letter) {
    const own = letter === "a" ? "distinct_a" : "distinct_b";
    return { common: this.answer.common, [own]: this.answer[own] };
  }

  async #fillPanel(letter) {
    const body = this.panels[letter].querySelector(".body");
    const side = this.view[letter];
    const given = side.query ?? side.text;
    try {
      if (given !== undefined) body.replaceChildren(this.#makeText(letter, given, "", "text"));
      else if (side.id !== undefined) body.replaceChildren(...this.#makeDocument(letter, await fetchDocument(this.answer.index, side.id), MAX_TEXT_LENGTH));
      else await this.#fillMembers(letter, body);
    } catch (error) {
      body.replaceChildren(make("p", { class: "muted" }, `The text cannot be shown: ${error.message}`));
    }
  }

  #makeDocument(letter, document, most) {
    const url = toSafeUrl(document.url);
    const about = [document.date?.slice(0, 10), ...Object.values(document.facets).flat().slice(0, 4)].filter(Boolean).join(" · ");
    return [
      make("p", { class: "muted" }, about, url ? " " : "", url ? make("a", { href: url, rel: "noopener noreferrer" }, "source") : ""),
      make("p", { class: "title", dir: "auto" }, ...this.#markPhrases(letter, document.title, document.id, "title")),
      this.#makeText(letter, document.text, document.id, "text", most),
    ];
  }

  #markPhrases(letter, text, id, field) {
    const matched = this.answer[letter].kind === "query" ? [] : this.answer.matched;
    return markText(text, findSpans(text, this.#getLists(letter), { side: letter, id, field, matched }));
  }

  #makeText(letter, text, id, field, most = MAX_TEXT_LENGTH) {
    const key = `${letter} ${id}`;
    const cut = text.length > most && !this.whole.has(key);
    const shown = cut ? text.slice(0, most).replace(/[\ud800-\udbff]$/, "") : text;
    const made = make("div", { class: "running", dir: "auto" }, ...this.#markPhrases(letter, shown, id, field));
    if (cut) {
      const more = () => {
        this.whole.add(key);
        made.replaceWith(this.#makeText(letter, text, id, field, most));
      };
      made.append("… ", make("button", { type: "button", class: "plain", onclick: more }, `Show all ${formatCount(text.length, "character")}`));
    }
    return made;
  }

  async #fillMembers(letter, body) {
    const { ids } = this.answer[letter];
    const found = await Promise.all(ids.slice(0, MAX_MEMBERS).map((id) => fetchDocument(this.answer.index, id)));
    const members = found.map((document) => make("section", { class: "member" }, ...this.#makeDocument(letter, document, MAX_MEMBER_TEXT_LENGTH)));
    const rest = ids.length - members.length;
    body.replaceChildren(make("p", { class: "muted" }, formatCount(ids.length, "document")), ...members, rest > 0 ? make("p", { class: "muted" }, `and ${formatCount(rest, "more", "more")}`) : "");
  }

  /** Make one phrase stand out on both sides and bring it into view. */
  async showPhrase(phrase) {
    await this.ready;
    for (const panel of Object.values(this.panels)) {
      const body = panel.querySelector(".body");
      let first = null;
      for (const mark of body.querySelectorAll("mark[data-phrase]")) {
        const on = phrase !== "" && `${mark.dataset.list}/${mark.dataset.phrase}` === phrase;
        mark.classList.toggle("on", on);
        if (on) first ??= mark;
      }
      panel.classList.toggle("picked", phrase !== "");
      if (first) {
        const top = first.getBoundingClientRect().top - body.getBoundingClientRect().top + body.scrollTop;
        body.scrollTo({ top: Math.max(0, top - body.clientHeight / 3) });
      }
    }
  }
}
