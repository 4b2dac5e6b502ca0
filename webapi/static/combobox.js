/* A text field with suggestions below it; arrows choose, Enter takes, Escape closes. */

import { make } from "./dom.js";

const PAUSE = 120;

/** `look(typed, signal)` gives [{value, label, note}]; `take(value)` hears a choice. */
export function combobox(input, list, look, take, name = "Suggestions") {
  let options = [];
  let active = -1;
  let timer = 0;
  let asking = null;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
  const given = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [attribute, value] of Object.entries(given)) input.setAttribute(attribute, value);

  function close() {
    clearTimeout(timer);
    asking?.abort();
    active = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(position) {
    active = position;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
    if (active >= 0) input.setAttribute("aria-activedescendant", list.children[active].id);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function choose(position) {
    const chosen = options[position];
    close();
    take(chosen);
  }

  function show(found, typed) {
    options = found;
    list.dataset.typed = typed;
    list.replaceChildren(...found.map((option, at) => item(option, at)));
    active = -1;
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(found.length > 0));
  }

  function item(option, at) {
    const props = { role: "option", id: `${list.id}-${at}`, "aria-selected": "false" };
    const made = make("li", props, make("span", { dir: "auto" }, option.label), make("small", {}, option.note || ""));
    made.addEventListener("mousedown", (event) => {
      event.preventDefault();
      choose(at);
    });
    return made;
  }

  async function ask() {
    const typed = input.value.trim();
    asking?.abort();
    if (!typed) return close();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const found = await look(typed, signal);
      if (!signal.aborted && document.activeElement === input) show(found, typed);
    } catch {
      if (!signal.aborted) close(); // suggestions are a help, not a need
    }
    return undefined;
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) ask();
      else if (options.length) {
        const step = event.key === "ArrowDown" ? 1 : -1;
        mark((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
      }
    } else if (event.key === "Enter" && active >= 0 && !list.hidden) {
      event.preventDefault();
      choose(active);
    }
  });
  return { close };
}
