/* Requests to the API: JSON in, JSON out, readable errors. */

const KEY_NAME = "phrasecom-key";

/** Return the reader's API key, stored for this tab; empty where the service needs none. */
export function getApiKey() {
  try {
    return sessionStorage.getItem(KEY_NAME) || "";
  } catch {
    return "";
  }
}

export function setApiKey(key) {
  sessionStorage.setItem(KEY_NAME, key);
}

const addAuthorization = (headers) => (getApiKey() ? { ...headers, Authorization: `Bearer ${getApiKey()}` } : headers);

customElements.whenDefined("why-this-result").then((element) => {
  element.fetch = (url, init) => fetch(url, { ...init, headers: addAuthorization(init.headers || {}) });
});

export class RequestError extends Error {
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

/** Send a request; return {status, body, pause, location}. `pause`: seconds the server asks to wait. */
export async function sendRequest(method, path, { body, prefer, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (prefer) headers.Prefer = prefer;
  let response;
  try {
    response = await fetch(path, { method, headers: addAuthorization(headers), signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError("The server cannot be reached. Check that it is running, then try again.", { code: "unreachable" });
  }
  let read = null;
  try {
    read = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (!response.ok || read === null) throw makeRequestError(response.status, read);
  const pause = Number(response.headers.get("Retry-After")) || 1;
  return { status: response.status, body: read, pause, location: response.headers.get("Location") };
}

function makeRequestError(status, read) {
  const problem = read?.error?.problem ?? read; // a search answers in the form of Elasticsearch's errors
  const detail = problem?.detail || `The server responded with status ${status}.`;
  const leads = { 429: "Too many requests at the moment. ", 500: "Something went wrong on the server: ", 503: "The service is not available: " };
  return new RequestError((leads[status] || "") + detail, { status, code: problem?.code });
}

export async function getJson(path, options) {
  return (await sendRequest("GET", path, options)).body;
}

export async function postJson(path, body, options) {
  return (await sendRequest("POST", path, { ...options, body })).body;
}

/** Request a comparison and wait for its job; `watch` is called with {id, state, progress, message} until it is done. */
export async function requestComparison(request, { signal, watch = () => {} } = {}) {
  let reply = await sendRequest("POST", "/v1/comparisons", { body: request, signal });
  while (reply.status === 202) {
    watch(reply.body);
    await sleep(Math.min(1000 * reply.pause, 1000), signal);
    reply = await sendRequest("GET", `/v1/comparisons/${encodeURIComponent(reply.body.id)}`, { signal });
  }
  return reply.body;
}

/** Tell the server that this page no longer waits for a comparison. */
export function leaveComparison(id) {
  return sendRequest("DELETE", `/v1/comparisons/${encodeURIComponent(id)}`).catch(() => {});
}

const documents = new Map();

/** Return a document of an index; requested once. */
export function fetchDocument(index, id) {
  const path = `/v1/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}`;
  if (!documents.has(path)) {
    documents.set(
      path,
      getJson(path).catch((error) => {
        documents.delete(path);
        throw error;
      }),
    );
  }
  return documents.get(path);
}

export function searchIndex(index, body, options) {
  return postJson(`/v1/${encodeURIComponent(index)}/_search`, body, options);
}

export async function listIndexes() {
  return (await getJson("/v1/indexes")).indexes;
}

export async function suggestPhrases(index, typed, size = 8, options = {}) {
  const path = `/v1/indexes/${encodeURIComponent(index)}/suggest?${new URLSearchParams({ q: typed, size })}`;
  return (await getJson(path, options)).suggestions;
}
