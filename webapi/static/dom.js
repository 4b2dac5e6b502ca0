/* Small helpers for the page. Text is only ever set as text. */

import { useKey } from "./api.js";

/** An element; properties that start with "on" are listeners, strings become text. */
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

/** Tell those who cannot see it. */
export function announce(text) {
  byId("live").textContent = text;
}

/** A note that goes away by itself. */
export function toast(text) {
  const note = make("p", { class: "toast" }, text);
  byId("toasts").append(note);
  announce(text);
  setTimeout(() => note.remove(), 4000);
}

/** What went wrong, in place of what was wanted, with a way to try again. */
export function trouble(error, again) {
  const button = again && make("button", { type: "button", class: "button", onclick: again }, "Try again");
  const key = again && (error.status === 401 || error.status === 403) ? keyForm(again) : null;
  return make("div", { class: "notice trouble", role: "alert" }, make("p", {}, error.message), key ?? button);
}

/** A service with API keys: the reader gives theirs, for this tab. */
function keyForm(again) {
  const input = make("input", { type: "password", required: true, autocomplete: "off", "aria-label": "API key", placeholder: "API key" });
  const form = make("form", { class: "key" }, input, make("button", { class: "button" }, "Use this key"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useKey(input.value.trim());
    again();
  });
  return form;
}

/** Only web addresses become links. */
export function safeUrl(url) {
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}

export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString()} ${count === 1 ? one : many}`;

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied.`);
  } catch {
    showToCopy(text, what);
  }
}

/** Where the clipboard is closed to us, the text is shown, selected. */
function showToCopy(text, what) {
  const area = make("textarea", { readonly: true, rows: "12", "aria-label": what });
  area.value = text;
  const close = make("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close");
  const dialog = make("dialog", { "aria-label": `Copy ${what}` }, make("p", {}, "Copy it from here:"), area, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
