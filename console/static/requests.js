// Requests of scripts to the farm, and reasons of failed ones.
import { SIGNED_OUT, csrf, signInLink } from "./page.js";

const headers = { "X-CSRF-Token": csrf(), "HX-Request": "true" };

// Return the response, or null if there is none.
export const send = (url, data, signal) => fetch(url, { method: "POST", body: data, headers, signal }).catch(() => null);
export const isJson = (answer) => (answer?.headers.get("content-type") || "").includes("json");

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
