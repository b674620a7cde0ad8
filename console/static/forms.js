// Forms: htmx sends them without leaving the page. An accepted form updates its page, or leads to another one. After a
// refusal, or without an answer, the page says so, and everything that was entered stays.
import { all, later, notify, say } from "./page.js";
import { replace } from "./parts.js";
import { reasonOf, silence } from "./requests.js";

const SEARCH_AGAIN_MS = 3000, LEAVING_MS = 10_000;
const buttonOf = ({ requestConfig }) => requestConfig.triggeringEvent?.submitter;

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.detail.boosted) return;
  if (event.detail.elt.querySelector("[aria-busy]")) return event.preventDefault(); // it is under way, or leads to another page
  buttonOf(event.detail)?.setAttribute("aria-busy", "true");
});
const release = (root) => { for (const button of all("[aria-busy]", root)) button.removeAttribute("aria-busy"); };
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const isDownload = buttonOf(detail)?.matches("[data-download]"), isLeaving = !isDownload && detail.xhr.getResponseHeader("hx-redirect");
  if (detail.boosted) setTimeout(release, isLeaving ? LEAVING_MS : 0, detail.elt); // a person may stop the loading of the next page
  if (isDownload) delete document.documentElement.dataset.leaving; // the page stays
});
window.addEventListener("pageshow", () => release(document));

// ---- An accepted form, or a page that shows its faults ----
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.boosted || !detail.shouldSwap) return;
  detail.shouldSwap = false;
  show(detail.requestConfig.elt, detail.xhr);
});
async function show(form, { response, responseURL }) {
  const main = document.getElementById("main"), url = new URL(responseURL);
  for (const one of all("details[open]")) if (one.contains(form)) one.open = false;
  form.reset(); // its fields show what the farm has stored
  if (!(await replace(main, response))) return location.reload();
  document.title = new DOMParser().parseFromString(response, "text/html").title;
  notify("sent", form.dataset.done || "", { tone: "good" });
  if (url.pathname === location.pathname) history.replaceState(history.state, "", url);
  const outcome = main.querySelector("[aria-invalid=true]") || main.querySelector("[data-outcome]");
  if (outcome) outcome.focus();
  else if (document.activeElement === document.body) main.focus({ preventScroll: true }); // the button may be gone
}

// ---- No answer, or a refusal. The list of a search that was not answered stays; the page searches again ----
async function refuse({ detail, target }) {
  const { xhr, boosted } = detail, seconds = Number(xhr.getResponseHeader("retry-after")); // 0 if the farm does not answer
  if (target.matches("[role=search]")) {
    const reason = seconds ? `Too many requests from this address. Wait ${seconds} s:` : "The farm does not answer, so";
    notify("search", `${reason} the list is not the one you asked for. The page tries again by itself.`);
    return later("search", Math.max(SEARCH_AGAIN_MS, 1000 * seconds), () => { if (document.getElementById("notice-search")) target.requestSubmit(); }); // else another one was answered
  }
  if (!boosted) target.reset(); // a choice: browsers ignore the choice of the same entry again
  const answer = xhr.status ? new Response(xhr.response, { status: xhr.status, headers: { "content-type": xhr.getResponseHeader("content-type") || "" } }) : null;
  const again = boosted ? "What you entered is still here; try again" : "Choose again";
  isUnsent = !answer && boosted;
  notify("sent", answer ? await reasonOf(answer, "The farm could not do it. Try again.") : `${silence()} ${again} in a moment.`);
}
let isUnsent = false; // the notice says so
window.addEventListener("online", () => {
  if (isUnsent && document.getElementById("notice-sent")) notify("sent", "You are online again. What you entered is still here, and has not been sent.");
});
for (const kind of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) document.addEventListener(kind, refuse);
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  notify("search", "");
  notify("sent", "");
  const list = detail.requestConfig.elt.matches("[role=search]") && document.querySelector("[data-spoken]");
  if (list) say(list.dataset.spoken);
});

// ---- Colours of the page ----
document.addEventListener("submit", ({ target, submitter }) => {
  if (!target.matches(".themes")) return;
  document.documentElement.dataset.theme = submitter.value;
  for (const one of all(".themes button")) one.setAttribute("aria-pressed", one.value === submitter.value);
}, true);

// A choice that shows another version of the page sends what was entered in a field beside it, too.
document.addEventListener("input", ({ target }) => {
  for (const hidden of all(`[data-entered="${CSS.escape(target.id)}"]`)) hidden.value = target.value;
});
