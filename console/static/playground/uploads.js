// Uploads of the playground. Only the newest file of each input is used.
import { takeDrops } from "../files.js";
import { clear, offerAgain, upload } from "../requests.js";
import { form } from "./form.js";

const running = new Map(); // newest upload by input: its request, and a promise of its end
const places = () => [...form.querySelectorAll("[data-field]:has([data-upload])")];
let accept = null, refuse = null, waiting = null; // button of a render that waits for uploads

// Call `taken(holder, upload)` or `refused(holder, reason)` when an upload ends, unless a newer value has replaced it.
export function onUpload(taken, refused) {
  accept = taken;
  refuse = refused;
  form.addEventListener("change", ({ target }) => { // of the form, because a refused render replaces its inputs
    if (!("upload" in target.dataset)) return;
    const [file] = target.files;
    target.value = ""; // allow choosing the same file again
    if (file) begin(target.closest("[data-field]"), file);
  });
}
const labelOf = (holder) => holder.querySelector("[data-upload-label] span");
const placeOf = (holder) => holder.querySelector("[data-uploading]");
const isShown = (holder) => !holder.querySelector("[data-file]").hidden;
export const nameButton = (holder) => { labelOf(holder).textContent = running.has(holder) ? "Uploading…" : isShown(holder) ? "Replace" : "Upload"; };

// Abort the input's running upload, because the person cancels it or another value or file has replaced it.
export function giveUp(holder) {
  const former = running.get(holder);
  running.delete(holder);
  former?.request.abort();
  if (!placeOf(holder)) return;
  clear(placeOf(holder));
  nameButton(holder);
}
function begin(holder, file) {
  giveUp(holder);
  refuse(holder, ""); // the former file's reason
  const request = new AbortController();
  request.signal.addEventListener("abort", () => { if (running.get(holder)?.request === request) cancel(holder); });
  running.set(holder, { request, ended: finish(holder, file, request) });
  nameButton(holder);
}
// The person cancels an upload. A render that waits for it would be without the file.
function cancel(holder) {
  waiting?.removeAttribute("aria-busy");
  waiting = null;
  giveUp(holder);
}
async function finish(holder, file, request) {
  const { taken, reason, again } = await upload(file, placeOf(holder), request);
  if (request.signal.aborted) return;
  running.delete(holder);
  nameButton(holder);
  if (taken) return accept(holder, taken);
  refuse(holder, `Not uploaded: ${file.name}. ${reason}`);
  if (again) offerAgain(file, placeOf(holder), () => begin(holder, file));
}
// Drop targets: each file input, or the whole page if the template has only one file input.
takeDrops(
  (element) => places().find((place) => place.contains(element)) || (places().length === 1 ? places()[0] : null),
  (place, files) => begin(place, files[0]),
);

// A render waits for running uploads. A refused or cancelled upload stops it.
form.addEventListener("submit", async (event) => {
  if (!running.size) return;
  event.preventDefault();
  event.stopImmediatePropagation(); // htmx would send it
  if (waiting) return;
  const button = (waiting = event.submitter), holders = [...running.keys()];
  button.setAttribute("aria-busy", "true");
  while (waiting && running.size) await Promise.all([...running.values()].map((one) => one.ended));
  if (!waiting) return;
  waiting = null;
  button.removeAttribute("aria-busy");
  if (holders.every((holder) => !holder.querySelector("[aria-invalid]"))) form.requestSubmit(button);
}, true);
