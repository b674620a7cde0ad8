// Update parts of the page in place. Ticked, opened, focused and selected elements keep their state.
import { SIGNED_OUT, notify, pause, setUp, signInLink } from "./page.js";

const WAIT_MS = 2000, WAIT_MS_MAX = 60_000;

// ---- Update: make an element equal to a fresh one, and keep elements that both contain ----
const keyOf = (node) => node.id || node.dataset?.key || (node.nodeName === "FORM" && node.getAttribute("action")) || "";
const isAlike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
const isOwn = (element, name) => // attributes set by the person or a script, not by the server
  name === "aria-busy" || name === "data-busy" || name === "data-instead" || (name === "open" && element.nodeName === "DETAILS");

function updateAttributes(element, fresh) {
  const drawn = (name, value) => (name === "src" || name === "poster") && element.dataset.instead === value; // see pictures.js
  for (const { name, value } of fresh.attributes) {
    if (element.getAttribute(name) !== value && !isOwn(element, name) && !drawn(name, value)) element.setAttribute(name, value);
  }
  for (const { name } of [...element.attributes]) if (!fresh.hasAttribute(name) && !isOwn(element, name)) element.removeAttribute(name);
}
// Return the existing node, from `place` on, that becomes `child`: the node with the same key, or the next one without a key.
function matchOf(place, child) {
  for (let one = place; one; one = keyOf(child) ? one.nextSibling : null) if (isAlike(one, child)) return one;
  return null;
}
function updateChildren(element, fresh) {
  let place = element.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = matchOf(place, child);
    if (!match) { element.insertBefore(document.importNode(child, true), place); continue; }
    if (match === place) place = place.nextSibling;
    else element.insertBefore(match, place);
    update(match, child);
  }
  while (place) { const next = place.nextSibling; place.remove(); place = next; }
}
function update(node, fresh) {
  if (node.nodeType !== Node.ELEMENT_NODE) { if (node.data !== fresh.data) node.data = fresh.data; return; }
  if (node.matches("[data-tabs], #notices, .stage")) return; // only scripts change its content
  updateAttributes(node, fresh);
  updateChildren(node, fresh);
}

// ---- Renewal: request a part until it arrives ----
const running = new Map(); // requests by part

// Update an element with the HTML of its content. Wait while the pointer is pressed, so that no click is lost or misdirected.
export async function show(element, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  while (element.matches(":active")) await pause(50);
  updateChildren(element, holder.content);
  setUp(element);
}
const parsed = (html, id) => {
  const holder = document.createElement("template"); // a document parser drops table rows
  holder.innerHTML = html;
  return holder.content.getElementById(id);
};

// Return the HTML, or null if it will never arrive. `asks` is "part", or "page" for a part that only the whole page contains.
async function ask(url, asks, signal) {
  for (let wait = WAIT_MS; ; wait = Math.min(wait * 2, WAIT_MS_MAX)) {
    const answer = await fetch(url, { headers: { "X-Console-Asks": asks }, signal }).catch(() => null);
    const html = answer?.ok ? await answer.text().catch(() => null) : null;
    if (signal.aborted) return null;
    if (html !== null) { notify("session", ""); return html; }
    if (answer?.status === 401) notify("session", SIGNED_OUT, { link: signInLink() });
    if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429) return null;
    await Promise.race([pause(Math.max(wait, 1000 * Number(answer?.headers.get("retry-after") || 0))), new Promise((done) => signal.addEventListener("abort", done))]);
    if (signal.aborted || document.hidden) return null; // a page that becomes visible again is renewed as a whole
  }
}

// Abort the requests of a part and of its descendants: their responses are outdated.
export function giveUp(part) {
  for (const [other, request] of running) if (part.contains(other) || other.contains(part)) { request.abort(); running.delete(other); }
}

// Update a part with its element in a page's HTML. Return false if the page does not have it.
export async function replace(part, html) {
  giveUp(part);
  const fresh = parsed(html, part.id);
  if (!fresh) return false;
  while (part.matches(":active")) await pause(50);
  update(part, fresh);
  setUp(part);
  return true;
}

// Renew a part from the server. `mayShow(fresh)` decides if the response is shown. Return true if the part was updated.
export async function renew(part, url, { asks = "part", mayShow = (_fresh) => true } = {}) {
  giveUp(part);
  const request = new AbortController();
  running.set(part, request);
  try {
    const html = await ask(url, asks, request.signal);
    const fresh = html === null ? null : parsed(html, part.id);
    if (!fresh) return false;
    while (part.matches(":active")) await pause(50);
    if (request.signal.aborted || !part.isConnected || !mayShow(fresh)) return false;
    update(part, fresh);
    setUp(part);
    return true;
  } finally {
    if (running.get(part) === request) running.delete(part);
  }
}
