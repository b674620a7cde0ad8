// Requests of scripts to the farm, reasons of failed ones, and uploads with their progress.
import { SIGNED_OUT, csrf, signInLink } from "./page.js";

const headers = { "X-CSRF-Token": csrf(), "X-Console-Asks": "part" };

// Return the response, or null if there is none.
export const send = (url, data, signal) => fetch(url, { method: "POST", body: data, headers, signal }).catch(() => null);
export const isJson = (answer) => (answer?.headers.get("content-type") || "").includes("json");

// Return true if the same request may work later, and the seconds until then if the response names them.
export const mayWorkLater = (answer) => !answer || answer.status === 429 || answer.status >= 500;
export const secondsUntil = (answer) => Number(answer?.headers.get("retry-after")) || 0;

export const silence = () => (navigator.onLine ? "The farm does not answer." : "You are offline.");

// Return the reason of a failed request: the response's reason, an expired session, or `words`.
export async function reasonOf(answer, words) {
  if (!answer) return `${silence()} Check the connection.`;
  if (isJson(answer)) return (await answer.json().catch(() => ({}))).message || words;
  if ((answer.headers.get("content-type") || "").startsWith("text/plain")) return answer.text().catch(() => words);
  return answer.status > 501 ? `${silence()} Try again in a moment.` : words; // a gateway answers
}
export function show(text, reason) {
  text.textContent = reason;
  if (reason.endsWith(SIGNED_OUT)) text.append(" ", signInLink());
}

// ---- Uploads ----
// Upload a file. Report the share that is sent. Return the response, or null if there is none.
function sendFile(file, url, signal, report) {
  return new Promise((done) => {
    const request = new XMLHttpRequest(), data = new FormData();
    data.append("file", file);
    request.open("POST", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => report(event.loaded / (event.total || 1)));
    request.addEventListener("load", () => {
      const kind = request.getResponseHeader("content-type") || "";
      done(new Response(request.response, { status: request.status, headers: { "content-type": kind } }));
    });
    request.addEventListener("loadend", () => done(null));
    signal.addEventListener("abort", () => request.abort());
    request.send(data);
  });
}
function button(words, name, act) {
  const made = document.createElement("button"), hidden = document.createElement("span");
  made.type = "button";
  made.className = "reset";
  hidden.className = "hidden-text";
  hidden.textContent = ` ${name}`;
  made.append(words, hidden);
  made.addEventListener("click", act);
  return made;
}
// Upload a file. `place` shows the progress and a button that cancels. Return { taken } or { reason }, and { again } if it may work later.
export async function upload(file, place, request, url = "/console/uploads") {
  const bar = document.createElement("progress"), words = document.createElement("span");
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", `Upload of ${file.name}`);
  words.className = "number small soft";
  const report = (share) => {
    bar.value = share;
    words.ariaHidden = String(share < 1); // the bar says it on request, not at each step
    words.textContent = share < 1 ? `${Math.floor(100 * share)} %` : "Checking…";
  };
  report(0);
  place.replaceChildren(bar, words, button("Cancel", `the upload of ${file.name}`, () => request.abort()));
  place.hidden = false;
  const answer = await sendFile(file, url, request.signal, report);
  if (request.signal.aborted) return { reason: "", again: false };
  clear(place);
  const taken = answer?.ok && isJson(answer) ? await answer.json().catch(() => null) : null;
  const reason = taken ? "" : await reasonOf(answer, "The upload failed. Try again.");
  return { taken, reason, again: mayWorkLater(answer) };
}
export function clear(place) {
  place.replaceChildren();
  place.hidden = true;
}
// Show a button that uploads a file again, so that the person need not choose it again.
export function offerAgain(file, place, act) {
  place.replaceChildren(button("Try again", `to upload ${file.name}`, act));
  place.hidden = false;
}
