/* Small helpers for pages. Text is only ever set as text. */

import { setApiKey } from "./api.js";

/** Make an element; properties that start with "on" are listeners, strings become text. */
export function make(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Announce a text to screen readers. */
export function announce(text) {
  byId("live").textContent = text;
}

/** Show a note that disappears by itself. */
export function showToast(text) {
  const note = make("p", { class: "toast" }, text);
  byId("toasts").append(note);
  announce(text);
  setTimeout(() => note.remove(), 4000);
}

/** Make the notice of an error, with a button to try again. */
export function makeErrorNotice(error, again) {
  const button = again && make("button", { type: "button", class: "button", onclick: again }, "Try again");
  const key = again && (error.status === 401 || error.status === 403) ? makeKeyForm(again) : null;
  return make("div", { class: "notice trouble", role: "alert" }, make("p", {}, error.message), key ?? button);
}

/** Make the form for an API key, which is stored for this tab. */
function makeKeyForm(again) {
  const input = make("input", { type: "password", required: true, autocomplete: "off", "aria-label": "API key", placeholder: "API key" });
  const form = make("form", { class: "key" }, input, make("button", { class: "button" }, "Use this key"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setApiKey(input.value.trim());
    again();
  });
  return form;
}

/** Return the address if it may become a link, else null. */
export function toSafeUrl(url) {
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}

export const formatCount = (count, one, many = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : many}`;

export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    showToast(`${what} copied.`);
  } catch {
    showTextToCopy(text, what);
  }
}

/** Show the text, selected, where the clipboard cannot be used. */
function showTextToCopy(text, what) {
  const area = make("textarea", { readonly: true, rows: "12", "aria-label": what });
  area.value = text;
  const close = make("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close");
  const dialog = make("dialog", { "aria-label": `Copy ${what}` }, make("p", {}, "Copy it from here:"), area, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
