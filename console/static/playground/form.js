// Form of the playground, its requests to the farm, and reasons of failed requests.
import { SIGNED_OUT, csrf, signInLink } from "../page.js";

export const form = document.querySelector("[data-playground]");
export const byId = (id) => document.getElementById(id);

const base = form.dataset.playground, ADDRESS_MAX = 8000, ANSWER_MS = 60_000;
const headers = { "X-CSRF-Token": csrf(), "HX-Request": "true" };

export function values(extra = {}) {
  const data = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(extra)) data.set(name, value);
  return data;
}
// Return the response, or null if there is none.
export const post = (path, data) => send(base + path, data, AbortSignal.timeout(ANSWER_MS));
export const send = (url, data, signal) => fetch(url, { method: "POST", body: data, headers, signal }).catch(() => null);
export const isJson = (answer) => (answer?.headers.get("content-type") || "").includes("json");
export const isPicture = (answer) => (answer?.headers.get("content-type") || "").startsWith("image/");

// Keep the values in the address, so that they survive a reload, a theme change and a new sign-in.
export function remember() {
  const data = new URLSearchParams([...new FormData(form)].filter(([name]) => /^(input|output)\./.test(name)));
  const address = `${base}/playground?${data}`;
  try {
    history.replaceState(history.state, "", address.length > ADDRESS_MAX ? `${base}/playground` : address);
  } catch { /* Browsers limit how often the address may change. The last values are stored when the typing pauses. */ }
}

// Return the reason of a failed request: the response's reason, an expired session, or `words`.
export async function reasonOf(answer, words) {
  if (!answer) return "The farm does not answer. Check the connection.";
  if (answer.headers.get("hx-redirect")) return SIGNED_OUT;
  if (isJson(answer)) return (await answer.json().catch(() => ({}))).message || words;
  if ((answer.headers.get("content-type") || "").startsWith("text/plain")) return answer.text().catch(() => words);
  const page = new DOMParser().parseFromString(await answer.text().catch(() => ""), "text/html");
  return page.querySelector(".notice strong")?.textContent || words;
}
export function show(text, reason) {
  text.textContent = reason;
  if (reason === SIGNED_OUT) text.append(" ", signInLink());
}
