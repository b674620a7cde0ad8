// Buttons that change the page that they are on, such as those of workers: the answer updates the page instead of loading it again.
import { SIGNED_OUT, notify, signInLink } from "./page.js";
import { replace } from "./parts.js";
import { reasonOf } from "./requests.js";

const ANSWER_MS = 20_000;
const busy = new WeakSet(); // forms whose answer is awaited

const request = (form, button) => fetch(form.action, {
  method: "POST", body: new URLSearchParams(new FormData(form, button)), headers: { "X-Console-Asks": "page" }, signal: AbortSignal.timeout(ANSWER_MS),
}).catch(() => null);

// Show an answer: the page after the change, or another page that the change leads to.
async function show(answer, form) {
  const url = new URL(answer.url);
  if (url.pathname !== location.pathname) return location.assign(url);
  const main = document.getElementById("main"), html = await answer.text().catch(() => "");
  for (const one of document.querySelectorAll("details[open]")) if (one.contains(form)) one.open = false;
  if (!(await replace(main, html))) return location.reload();
  if (document.activeElement === document.body) main.focus({ preventScroll: true }); // the button may be gone
}
document.addEventListener("submit", async (event) => {
  const form = event.target, button = event.submitter;
  if (!form.matches("#main [data-in-place]") || event.defaultPrevented) return;
  event.preventDefault();
  if (busy.has(form)) return;
  busy.add(form);
  button?.setAttribute("aria-busy", "true");
  const answer = await request(form, button);
  const reason = answer?.ok ? "" : answer?.status === 401 ? SIGNED_OUT : await reasonOf(answer, "The farm has not done it. Try again.");
  notify("sent", reason, reason === SIGNED_OUT ? signInLink() : null);
  if (reason) document.getElementById("notice-sent")?.scrollIntoView({ block: "nearest" });
  else await show(answer, form);
  busy.delete(form);
  button?.removeAttribute("aria-busy");
}, true); // before controls.js, which sends other forms
