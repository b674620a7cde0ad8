// Uploads of the playground. Only the newest file of each input is used.
import { takeDrops } from "../drops.js";
import { isJson, reasonOf, send } from "../requests.js";
import { byId, form } from "./form.js";

const running = new Map(); // newest upload by input: its request, and a promise of its end
let accept = null, refuse = null;

// Call `taken(holder, upload)` or `refused(holder, reason)` when an upload ends, unless a newer value has replaced it.
export function onUpload(taken, refused) {
  accept = taken;
  refuse = refused;
}
const labelOf = (holder) => holder.querySelector("[data-upload-label] span");
const isShown = (holder) => !holder.querySelector("[data-file]").hidden;
export const nameButton = (holder) => { labelOf(holder).textContent = running.has(holder) ? "Uploading…" : isShown(holder) ? "Replace" : "Upload"; };

// Abort the input's running upload, because another value or file has replaced it.
export function giveUp(holder) {
  running.get(holder)?.request.abort();
  running.delete(holder);
  if (holder.querySelector("[data-upload-label]")) nameButton(holder);
}
async function upload(holder, file) {
  giveUp(holder);
  const data = new FormData(), request = new AbortController();
  data.append("file", file);
  const ended = finish(holder, request, send("/console/uploads", data, request.signal));
  running.set(holder, { request, ended });
  nameButton(holder);
}
async function finish(holder, request, answering) {
  const answer = await answering;
  const taken = answer?.ok && isJson(answer) ? await answer.json().catch(() => null) : null;
  const reason = taken ? "" : await reasonOf(answer, "The upload failed. Try again.");
  if (request.signal.aborted) return;
  running.delete(holder);
  nameButton(holder);
  taken ? accept(holder, taken) : refuse(holder, reason);
}
form.addEventListener("change", (event) => {
  const target = event.target.dataset.upload;
  if (!target || !event.target.files.length) return;
  const [file] = event.target.files;
  event.target.value = ""; // allow choosing the same file again
  upload(byId(target).closest("[data-field]"), file);
});
// Drop targets: each file input, or the whole page if the template has only one file input.
const places = [...form.querySelectorAll("[data-field]:has([data-upload])")];
takeDrops(
  (element) => places.find((place) => place.contains(element)) || (places.length === 1 ? places[0] : null),
  (place, files) => upload(place, files[0]),
);

// A render waits for running uploads. A refused upload stops it.
form.addEventListener("submit", async (event) => {
  if (!running.size) return;
  event.preventDefault();
  const button = event.submitter;
  if (button?.hasAttribute("aria-busy")) return;
  button?.setAttribute("aria-busy", "true");
  const holders = [...running.keys()];
  while (running.size) await Promise.all([...running.values()].map((one) => one.ended));
  button?.removeAttribute("aria-busy");
  if (holders.every((holder) => !holder.querySelector("[aria-invalid]"))) form.requestSubmit(button);
});
