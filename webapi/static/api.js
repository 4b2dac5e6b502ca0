/* Talking to the API: JSON in, JSON out, and errors that say what happened. */

const KEY = "phrasecom-key";

/** The reader's API key, kept for this tab; none where the service needs none. */
export function apiKey() {
  try {
    return sessionStorage.getItem(KEY) || "";
  } catch {
    return "";
  }
}

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

const signed = (headers) => (apiKey() ? { ...headers, Authorization: `Bearer ${apiKey()}` } : headers);

customElements.whenDefined("why-this-result").then((element) => {
  element.fetch = (url, init) => fetch(url, { ...init, headers: signed(init.headers || {}) });
});

export class Trouble extends Error {
  constructor(message, { status = 0, code = "" } = {}) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const sleep = (ms, signal) =>
  new Promise((done, stop) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      stop(signal.reason);
    });
  });

/** One request. Gives {status, body, pause, location}; `pause`: seconds the server asks to wait. */
export async function send(method, path, { body, prefer, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (prefer) headers.Prefer = prefer;
  let response;
  try {
    response = await fetch(path, { method, headers: signed(headers), signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Trouble("The server cannot be reached. Check that it is running, then try again.", { code: "unreachable" });
  }
  let read = null;
  try {
    read = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (!response.ok || read === null) throw said(response.status, read);
  const pause = Number(response.headers.get("Retry-After")) || 1;
  return { status: response.status, body: read, pause, location: response.headers.get("Location") };
}

function said(status, problem) {
  const detail = problem?.detail || `The server answered ${status}.`;
  const leads = { 429: "Too many requests at the moment. ", 500: "Something went wrong on the server: ", 503: "The service is not available: " };
  return new Trouble((leads[status] || "") + detail, { status, code: problem?.code });
}

export async function get(path, options) {
  return (await send("GET", path, options)).body;
}

export async function post(path, body, options) {
  return (await send("POST", path, { ...options, body })).body;
}

/** Ask for a comparison and follow its job; `watch` hears {id, state, progress, message} until it is done. */
export async function compare(question, { signal, watch = () => {} } = {}) {
  let reply = await send("POST", "/v1/comparisons", { body: question, signal });
  while (reply.status === 202) {
    watch(reply.body);
    await sleep(Math.min(1000 * reply.pause, 1000), signal);
    reply = await send("GET", `/v1/comparisons/${encodeURIComponent(reply.body.id)}`, { signal });
  }
  return reply.body;
}

/** The caller does not want the answer any more. */
export function leave(id) {
  return send("DELETE", `/v1/comparisons/${encodeURIComponent(id)}`).catch(() => {});
}

const documents = new Map();

/** A document of an index; asked for once. */
export function fetchDocument(index, id) {
  const path = `/v1/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}`;
  if (!documents.has(path)) {
    documents.set(
      path,
      get(path).catch((error) => {
        documents.delete(path);
        throw error;
      }),
    );
  }
  return documents.get(path);
}

export function search(index, body, options) {
  return post(`/v1/${encodeURIComponent(index)}/_search`, body, options);
}

export async function indexes() {
  return (await get("/v1/indexes")).indexes;
}

export async function suggest(index, typed, size = 8, options = {}) {
  const path = `/v1/indexes/${encodeURIComponent(index)}/suggest?${new URLSearchParams({ q: typed, size })}`;
  return (await get(path, options)).suggestions;
}
