// Controls of pages: tabs, copying, forms, colours, keys, two videos side by side.
import { all, isNew, later, notify, onArrival } from "./page.js";
import { isJson, reasonOf, send } from "./requests.js";

// ---- Code: tabs and copying ----
onArrival((root) => {
  for (const holder of all("[data-tabs]", root)) {
    const tabs = all("[role=tab]", holder);
    if (!tabs.length || holder.dataset.ready) continue;
    holder.dataset.ready = "yes";
    const choose = (chosen, focus) => {
      for (const tab of tabs) {
        const selected = tab === chosen;
        tab.setAttribute("aria-selected", String(selected));
        tab.tabIndex = selected ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
      }
      if (focus) chosen.focus();
    };
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) choose(tabs[(index + step + tabs.length) % tabs.length], true);
      });
    });
    choose(tabs[0]);
  }
});
// `navigator.clipboard` exists only over HTTPS and on localhost. Elsewhere, copy the selection of a temporary field.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const field = document.createElement("textarea"), focused = document.activeElement;
  field.value = text;
  field.className = "hidden-text";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return copied;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.busy) return;
  const source = document.getElementById(button.dataset.copy);
  const copied = await copy((source.querySelector("pre") || source).textContent);
  const before = button.textContent;
  button.textContent = copied ? "Copied" : "Not copied";
  button.dataset.busy = "yes";
  setTimeout(() => { button.textContent = before; delete button.dataset.busy; }, 1500);
});

// ---- Two videos side by side: play and seek together ----
const pair = document.querySelector("[data-pair]"), both = document.querySelector("[data-play-both]");
const videos = pair ? all("video", pair) : [];
if (videos.length === 2) {
  both.hidden = false;
  both.addEventListener("click", () => {
    const start = videos.every((video) => video.paused);
    for (const video of videos) { if (video.ended) video.currentTime = 0; start ? video.play() : video.pause(); }
  });
  const other = (video) => videos[1 - videos.indexOf(video)];
  for (const video of videos) {
    for (const kind of ["play", "pause", "ended"]) video.addEventListener(kind, () => { both.querySelector("span").textContent = videos.every((one) => one.paused) ? "Play both" : "Pause both"; });
    video.addEventListener("seeked", () => { if (Math.abs(other(video).currentTime - video.currentTime) > 0.1) other(video).currentTime = Math.min(video.currentTime, other(video).duration || 0); });
  }
}

// ---- Searches and filters: without an answer, the former list stays. Say so and search again ----
const SEARCH_AGAIN_MS = 3000;
function unanswered(event) {
  if (!event.target.matches("[role=search]")) return;
  const seconds = Number(event.detail.xhr?.getResponseHeader("retry-after")); // 0 if the farm does not answer
  const reason = seconds ? `Too many requests from this address. Wait ${seconds} s:` : "The farm does not answer, so";
  notify("search", `${reason} the list is not the one you asked for. The page tries again by itself.`);
  later("search", Math.max(SEARCH_AGAIN_MS, 1000 * seconds), () => { if (document.getElementById("notice-search")) event.target.requestSubmit(); }); // else another one was answered
}
document.addEventListener("htmx:sendError", unanswered);
document.addEventListener("htmx:responseError", unanswered);
document.addEventListener("htmx:afterSwap", () => notify("search", ""));

// ---- Send a form only once, even if its button is pressed again, and only to a farm that answers ----
// Without an answer, a browser replaces the page by its own error page, and what was entered is gone. So a script sends forms that lead to
// another page and do nothing twice. The browser sends the others, and those with a fault again, if the farm answers a short request.
const SENT_MS = 10_000; // after this time the button works again: the person may have cancelled the request
const ANSWER_MS = 8000, LEAD_MS = 60_000;
const sent = new Map(); // timers by form
const answered = new Set(); // forms that are sent because the farm has answered
const answers = () => fetch(import.meta.url, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) }).then((answer) => answer.ok, () => false);
// Send a form whose answer has the address of a page. Return the address, "" for another answer, or null without one.
async function lead(form, button) {
  const body = new URLSearchParams(new FormData(form, button)), headers = { "X-Console-Asks": "part" };
  const answer = await fetch(form.action, { method: "POST", body, headers, signal: AbortSignal.timeout(LEAD_MS) }).catch(() => null);
  return answer && (answer.ok && isJson(answer) ? answer.json().then(({ url }) => url, () => null) : "");
}
document.addEventListener("submit", async (event) => {
  const form = event.target, button = event.submitter;
  const isChoice = form.querySelector("[data-submit]");
  if (event.defaultPrevented || (form.method !== "post" && !isChoice) || answered.delete(form)) return;
  if (sent.has(form)) return event.preventDefault();
  sent.set(form, setTimeout(() => release(form), SENT_MS));
  button?.setAttribute("aria-busy", "true");
  if (!document.getElementById("notices")) return; // where the reason would stand
  event.preventDefault();
  const leads = form.matches("[data-leads]") && !button?.hasAttribute("formaction");
  const address = leads ? await lead(form, button) : (await answers()) ? "" : null, may = address !== null;
  notify("sent", may ? "" : `${leads ? "The" : "Nothing was sent: the"} farm does not answer. ${isChoice ? "Choose again" : "What you entered is still here; try again"} in a moment.`);
  if (!may || button?.matches("[data-download]")) release(form);
  if (!may && isChoice) form.reset();
  if (!may) return document.getElementById("notice-sent").scrollIntoView({ block: "nearest" });
  if (address) return location.assign(address);
  answered.add(form);
  form.requestSubmit(button?.form === form ? button : null);
});
function release(form) {
  clearTimeout(sent.get(form));
  sent.delete(form);
  for (const button of all("[aria-busy]", form)) button.removeAttribute("aria-busy");
}
// A page that answers a form: a reload or Back requests its address, and does not send the form again.
if (!document.querySelector("[data-error]")) history.replaceState(history.state, "", location.href);
window.addEventListener("pageshow", (event) => {
  if (isNew && !event.persisted) return; // a choice may already be on its way
  for (const form of [...sent.keys()]) release(form);
  for (const choice of all("[data-submit]")) choice.form.reset();
});
// A choice that shows another version of the page sends what was entered in a field beside it, too.
document.addEventListener("submit", (event) => {
  for (const hidden of all("[data-entered]", event.target)) {
    const field = document.getElementById(hidden.dataset.entered);
    if (field.value !== field.defaultValue) hidden.value = field.value;
  }
}, true);
// A choice that sends its form. It is put back where it was not sent and on Back: browsers ignore the choice of the same file again.
document.addEventListener("change", (event) => { if (event.target.matches("[data-submit]")) event.target.form.requestSubmit(); });

// ---- Colours: the page stays, with what was entered in it. Answers that overtake each other would store the former colours ----
let storing = false; // while a request stores them
document.addEventListener("submit", async (event) => {
  if (!event.target.matches(".themes")) return;
  event.preventDefault();
  const theme = event.submitter.value;
  document.documentElement.dataset.theme = theme;
  for (const one of all(".themes button")) one.setAttribute("aria-pressed", one.value === theme);
  if (storing) return; // the request that is under way is followed by one for the newest colours
  storing = true;
  let answer = null, sentTheme = "";
  while (sentTheme !== document.documentElement.dataset.theme) {
    sentTheme = document.documentElement.dataset.theme;
    answer = await send("/console/theme", new URLSearchParams({ theme: sentTheme }));
  }
  storing = false;
  notify("theme", answer?.ok ? "" : await reasonOf(answer, "Other pages keep the former colours."));
}, true);

// ---- Keys: / searches ----
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const search = document.querySelector("[data-search]");
  if (search) { event.preventDefault(); search.focus(); search.select(); }
});

// ---- Small dialogs: a click outside and Escape close them, and typing goes to their field ----
document.addEventListener("click", (event) => {
  for (const open of all("details.pop[open]")) if (!open.contains(event.target)) open.open = false;
});
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("details.pop[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("toggle", (event) => {
  const field = event.target.matches("details.pop[open]") && event.target.querySelector("input:not([type=hidden])");
  if (field) { field.focus(); field.select(); }
}, true);
