// Event stream of the page: one for each tab, closed while the tab is hidden, reopened when it breaks.
import { SIGNED_OUT, notify, signInLink } from "./page.js";

const QUIET_MS = 45_000; // the farm sends something every 15 s
const AGAIN_MS = 2000, AGAIN_MS_MAX = 60_000, LOST_MS = 6000;
const address = document.querySelector("[data-stream]")?.dataset.stream;
const listeners = new Map(), renewals = [];
let source = null, again = 0, wait = AGAIN_MS, heard = 0, lost = 0, signedOut = false;

// Call `act` with the data of each event of a kind.
export function onEvent(kind, act) {
  listeners.set(kind, act);
}
// Call `act` when changes may have been missed: the stream has opened, or the page is visible again.
export function onMissed(act) {
  renewals.push(act);
}
const missed = () => renewals.forEach((act) => act());

function stopWaiting() {
  clearTimeout(lost);
  lost = 0;
}
function connected(yes) {
  if (yes) { stopWaiting(); notify("connection", ""); }
  else if (address && !signedOut && !lost) lost = setTimeout(() => notify("connection", "Live updates are interrupted, so what you see may be out of date. The page tries again by itself."), LOST_MS); // each failed attempt comes here
}
// A refused stream gives no reason, so request a page to detect an expired session.
async function lookForSession() {
  const answer = await fetch(location.href, { headers: { "X-Console-Asks": "page" } }).catch(() => null);
  signedOut = answer?.status === 401;
  if (!signedOut) return;
  connected(true);
  notify("session", SIGNED_OUT, { link: signInLink() });
}
function close() {
  clearTimeout(again);
  source?.close();
  source = null;
}
function open() {
  close();
  if (!address || document.hidden) return;
  heard = performance.now();
  const opened = (source = new EventSource(address));
  opened.onopen = () => { heard = performance.now(); wait = AGAIN_MS; signedOut = false; connected(true); notify("session", ""); missed(); };
  opened.onerror = () => {
    connected(false);
    if (opened !== source || opened.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
    again = setTimeout(open, wait);
    lookForSession();
    wait = Math.min(wait * 2, AGAIN_MS_MAX);
  };
  opened.addEventListener("alive", () => { heard = performance.now(); });
  for (const [kind, act] of listeners) opened.addEventListener(kind, (event) => { heard = performance.now(); act(event.data); });
}
setInterval(() => { if (source && performance.now() - heard > QUIET_MS) { connected(false); open(); } }, 5000);

function look() {
  if (document.hidden) { stopWaiting(); return close(); }
  open();
  if (!address) missed();
}
document.addEventListener("visibilitychange", look);
window.addEventListener("pageshow", (event) => { if (event.persisted) look(); });
window.addEventListener("pagehide", () => { stopWaiting(); close(); });
window.addEventListener("online", look);
window.addEventListener("offline", () => connected(false));
queueMicrotask(open); // after all modules have registered their listeners
