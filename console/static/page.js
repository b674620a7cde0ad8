// Elements, times, notices, and set-up of new elements. Every page uses them.
export const csrf = () => document.body.dataset.csrf || "";
// False after a reload and Back: browsers then restore what was entered in fields.
export const isNew = performance.getEntriesByType("navigation")[0]?.type === "navigate";
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// ---- Set-up functions, run on the page and on each new part of it ----
const setUps = [];
let isSetUp = false;
export function onArrival(act) {
  setUps.push(act);
  if (isSetUp) act(document); // a script that the page loads after these
}
export function setUp(root) {
  isSetUp = true;
  setUps.forEach((act) => act(root));
}

// ---- Relative times, kept up to date ----
const STEPS = [[31536000, "y"], [2592000, "mo"], [86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
export function span(seconds) {
  for (const [size, unit] of STEPS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return "0 s";
}
const served = document.querySelector("meta[name=server-time]");
const skew = served ? Date.parse(served.content) - Date.now() : 0;
export const now = () => Date.now() + skew;
function refreshTimes() {
  for (const mark of all("time[data-relative]")) {
    const seconds = (now() - Date.parse(mark.dateTime)) / 1000;
    const text = Math.abs(seconds) < 1 ? "just now" : seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
    if (mark.textContent !== text) mark.textContent = text;
  }
}
onArrival(refreshTimes);

// ---- Exact times in the zone of the person. Without scripts they are UTC, as the text says ----
const exactly = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" }), clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
onArrival((root) => {
  for (const mark of all("time[data-relative]", root)) mark.title = exactly.format(new Date(mark.dateTime));
  for (const mark of all("time[data-exact]", root)) mark.textContent = exactly.format(new Date(mark.dateTime));
  for (const mark of all("[data-clock]", root)) mark.textContent = mark.textContent.replace(/^\d\d:\d\d/, clock.format(new Date(mark.dataset.clock)));
});
setInterval(() => { if (!document.hidden) refreshTimes(); }, 5000);
document.addEventListener("visibilitychange", refreshTimes);

// ---- Debounced calls: several calls with the same key become one ----
const pending = new Map();
export function later(key, wait, act) {
  if (pending.has(key)) return;
  pending.set(key, setTimeout(() => { pending.delete(key); act(); }, wait));
}
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- Notices above the page, at most one of each kind. An empty text removes the notice ----
export function notify(kind, text, { link = null, tone = "warn" } = {}) {
  const holder = document.getElementById("notices");
  const shown = document.getElementById(`notice-${kind}`);
  if (shown?.dataset.text === text || !holder) return; // it may have the focus
  shown?.remove();
  if (!text) return;
  const notice = document.createElement("div");
  notice.id = `notice-${kind}`;
  notice.className = `notice ${tone}`;
  notice.dataset.text = text;
  notice.append(document.createElement("div"));
  notice.firstChild.append(text, ...(link ? [" ", link] : []));
  holder.prepend(notice);
}
// Tell people who hear the page what others see on it.
export const say = (text) => { document.getElementById("spoken").textContent = text; };

export const SIGNED_OUT = "You are signed out.";
export function signInLink() {
  const link = document.createElement("a");
  link.href = `/console/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Sign in again";
  return link;
}
