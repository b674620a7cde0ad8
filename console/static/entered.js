// What a person enters: in fields before the scripts of a page are loaded, and in forms that the farm does not accept.
import { all, csrf, isNew, notify } from "./page.js";

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

// ---- The last sent form: if it was not accepted, its page shows again what was entered ----
const PLACE = "sent form", CHARACTERS_MAX = 100_000;
const account = document.body.dataset.account;
const fieldsOf = (form) => [...form.elements].filter((one) => one.name && one.matches("input:not([type=hidden], [type=password], [type=file]), select, textarea"));
const keyOf = (field) => `${field.name} ${isTick(field) ? field.value : ""}`;
const keep = (sent) => { try { sessionStorage.setItem(PLACE, JSON.stringify(sent)); } catch { /* The storage is full or off. */ } };
const kept = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)); } catch { return null; } };
const forget = () => { try { sessionStorage.clear(); } catch { /* The storage is off. */ } }; // of this tab, drafts of tables included

document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post" || !account) return;
  if (event.target.getAttribute("action") === "/console/sign-out") return forget();
  const entered = fieldsOf(event.target).map((field) => [keyOf(field), entryOf(field)]);
  keep(JSON.stringify(entered).length < CHARACTERS_MAX ? { account, action: event.target.getAttribute("action"), entered } : null);
});
function enterAgain({ action, entered }) {
  const form = all("form").find((one) => one.getAttribute("action") === action), given = new Map(entered);
  const lost = form ? fieldsOf(form).filter((field) => given.has(keyOf(field)) && given.get(keyOf(field)) !== entryOf(field)) : [];
  for (const field of lost) field[isTick(field) ? "checked" : "value"] = given.get(keyOf(field));
  if (!lost.length) return;
  for (const closed of all("details").filter((one) => one.contains(form))) closed.open = true;
  const link = Object.assign(document.createElement("a"), { href: "#main", textContent: "Go to it" });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    event.stopPropagation(); // a click outside closes a small dialog
    lost[0].focus();
  });
  notify("entered", "What you entered is here again. It has not been sent.", link);
}
// An error page without `data-refused` answers no form: it can follow a form that was accepted.
const sent = kept(), isError = document.querySelector("[data-error]");
if (sent && document.querySelector("[data-refused]")) keep({ ...sent, refused: true });
else if (sent && csrf() && !(sent.refused && isError)) { // not a page before the sign-in
  keep(null);
  if (sent.refused && sent.account === account) enterAgain(sent);
}
