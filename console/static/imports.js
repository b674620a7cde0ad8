// Import of a project: choose it or drop it anywhere on the page. Its upload shows its progress, and the farm answers with the address of the findings.
import { takeChosen, takeDrops } from "./files.js";
import { clear, offerAgain, show, upload } from "./requests.js";

const form = document.querySelector("[data-import]"), place = document.querySelector("[data-import-progress]");
const chooser = form?.querySelector("input[type=file]"), fault = place?.previousElementSibling;
let running = null; // request of the newest upload

async function begin(file) {
  running?.abort();
  const request = running = new AbortController();
  fault.hidden = true;
  const { taken, reason, again } = await upload(file, place, request, form.action);
  if (running !== request) return;
  running = null;
  clear(place);
  if (request.signal.aborted) return;
  if (taken) {
    place.textContent = "Checking the project…"; // until the page with the findings arrives
    place.hidden = false;
    return location.assign(taken.url);
  }
  show(fault, `${file.name}: ${reason}`);
  fault.hidden = false;
  if (again) offerAgain(file, place, () => begin(file));
}
if (form) {
  takeChosen(chooser, ([file]) => begin(file));
  takeDrops(() => form, (_place, files) => begin(files[0]));
  window.addEventListener("pageshow", (event) => { if (event.persisted) clear(place); });
}
