// Form of the playground and its requests to the farm.
import { later } from "../page.js";
import { mayWorkLater, secondsUntil, send } from "../requests.js";

export const form = document.querySelector("[data-playground]");
export const byId = (id) => document.getElementById(id);

const base = form.dataset.playground, ADDRESS_MAX = 8000, ANSWER_MS = 60_000, AGAIN_MS = 3000, AGAIN_MS_MAX = 60_000;

export function values(extra = {}) {
  const data = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) data.set(name, value);
  return data;
}
// Return the response, or null if there is none.
export const post = (path, data, signal = AbortSignal.timeout(ANSWER_MS)) => send(base + path, data, signal);
// Let the page ask again for what the farm could not answer, less and less often. Return true if it will.
let wait = AGAIN_MS;
export const forgetFailures = () => { wait = AGAIN_MS; };
export function askAgain(answer) {
  if (!mayWorkLater(answer)) return false;
  later("again", Math.max(wait, 1000 * secondsUntil(answer)), () => { wait = answer ? Math.min(2 * wait, AGAIN_MS_MAX) : AGAIN_MS; form.dispatchEvent(new Event("again")); });
  return true;
}
export const isPicture = (answer) => (answer?.headers.get("content-type") || "").startsWith("image/");

// Keep the values in the address, so that they survive a reload, a theme change and a new sign-in.
export function remember() {
  const data = new URLSearchParams([...new FormData(form)].filter(([name]) => /^(input|output)\./.test(name)));
  const address = `${base}/playground?${data}`;
  try {
    history.replaceState(history.state, "", address.length > ADDRESS_MAX ? `${base}/playground` : address);
  } catch { /* Browsers limit how often the address may change. The last values are stored when the typing pauses. */ }
}
