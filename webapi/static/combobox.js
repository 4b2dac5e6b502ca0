/* A text field with suggestions: arrow keys move, Enter selects, Escape closes. */

import { make } from "./dom.js";

const PAUSE = 120;

/** Add suggestions to an input. `findOptions(typed, signal)` returns [{value, label, note}]; `onChoose(option)` is called
    with the choice. */
export function attachCombobox(input, list, findOptions, onChoose, name = "Suggestions") {
  let options = [];
  let active = -1;
  let timer = 0;
  let pending = null;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" };
  for (const [attribute, value] of Object.entries(attributes)) input.setAttribute(attribute, value);

  function close() {
    clearTimeout(timer);
    pending?.abort();
    active = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function highlightOption(chosen) {
    active = chosen;
    [...list.children].forEach((item, position) => item.setAttribute("aria-selected", String(position === active)));
    if (active >= 0) input.setAttribute("aria-activedescendant", list.children[active].id);
    else input.removeAttribute("aria-activedescendant");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function chooseOption(position) {
    const chosen = options[position];
    close();
    onChoose(chosen);
  }

  function showOptions(loaded, typed) {
    options = loaded;
    list.dataset.typed = typed;
    list.replaceChildren(...options.map(makeItem));
    active = -1;
    list.hidden = !options.length;
    input.setAttribute("aria-expanded", String(options.length > 0));
  }

  function makeItem(option, position) {
    const props = { role: "option", id: `${list.id}-${position}`, "aria-selected": "false" };
    const item = make("li", props, make("span", { dir: "auto" }, option.label), make("small", {}, option.note || ""));
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      chooseOption(position);
    });
    return item;
  }

  async function loadOptions() {
    const typed = input.value.trim();
    pending?.abort();
    if (!typed) return close();
    pending = new AbortController();
    const { signal } = pending;
    try {
      const loaded = await findOptions(typed, signal);
      if (!signal.aborted && document.activeElement === input) showOptions(loaded, typed);
    } catch {
      if (!signal.aborted) close(); // the page works without suggestions
    }
    return undefined;
  }

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(loadOptions, PAUSE);
  });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) loadOptions();
      else if (options.length) {
        const step = event.key === "ArrowDown" ? 1 : -1;
        highlightOption((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
      }
    } else if (event.key === "Enter" && active >= 0 && !list.hidden) {
      event.preventDefault();
      chooseOption(active);
    }
  });
  return { close };
}
