// What a person enters: in fields before the scripts of a page are loaded, and in a form whose session has ended.
import { all, isNew, notify } from "./page.js";

// ---- Fields that were changed before the scripts were loaded: report them to the scripts ----
const isTick = (field) => field.type === "checkbox" || field.type === "radio";
const entryOf = (field) => (isTick(field) ? field.checked : field.value);
function isEdited(field) {
  const form = document.createElement("form"), served = form.appendChild(field.cloneNode(true));
  form.reset(); // browsers also correct served values, such as those of colours
  return entryOf(field) !== entryOf(served);
}
document.addEventListener("DOMContentLoaded", () => { // all scripts have run, and htmx has read the page
  for (const field of isNew ? all("input:not([type=hidden]), select, textarea").filter(isEdited) : []) {
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }
});

// ---- A form that was sent without a session: after the sign-in, its page shows again what was entered ----
const PLACE = "sent form", CHARACTERS_MAX = 100_000;
const account = document.body.dataset.account;
const fieldsOf = (form) => [...form.elements].filter((one) => one.name && one.matches("input:not([type=hidden], [type=password], [type=file]), select, textarea"));
const keyOf = (field) => `${field.name} ${isTick(field) ? field.value : ""}`;
const kept = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)); } catch { return null; } };

document.addEventListener("htmx:beforeOnLoad", ({ detail: { boosted, elt: form, xhr } }) => {
  if (!boosted || !account || !xhr.getResponseHeader("hx-redirect")?.endsWith("refused=true")) return;
  const entered = fieldsOf(form).map((field) => [keyOf(field), entryOf(field)]);
  const sent = JSON.stringify({ account, action: form.getAttribute("action"), entered });
  try { if (sent.length < CHARACTERS_MAX) sessionStorage.setItem(PLACE, sent); } catch { /* The storage is full or off. */ }
});
document.addEventListener("submit", ({ target }) => { // drafts of tables included
  try { if (target.action.endsWith("/sign-out")) sessionStorage.clear(); } catch { /* The storage is off. */ }
});
function enterAgain(form, entered) {
  const given = new Map(entered);
  const lost = fieldsOf(form).filter((field) => given.has(keyOf(field)) && given.get(keyOf(field)) !== entryOf(field));
  for (const field of lost) field[isTick(field) ? "checked" : "value"] = given.get(keyOf(field));
  if (!lost.length) return;
  for (const closed of all("details").filter((one) => one.contains(form))) closed.open = true;
  const link = Object.assign(document.createElement("a"), { href: "#main", textContent: "Go to it" });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation(); // a click outside closes a small dialog
    lost[0].focus();
  });
  notify("sent", "What you entered is here again. It has not been sent.", { link });
}
const sent = kept(), form = sent && all("form").find((one) => one.getAttribute("action") === sent.action);
if (sent && account && (form || sent.account !== account)) sessionStorage.removeItem(PLACE);
if (form && sent.account === account) enterAgain(form, sent.entered);
