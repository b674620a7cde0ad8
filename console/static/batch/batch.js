// Table of values: read a chosen or dropped CSV file and let the farm check it. Upload the files that its cells name.
import { takeChosen, takeDrops } from "../files.js";
import { offerAgain, show, upload } from "../requests.js";

const CHARACTERS_MAX = 1_000_000; // as in console/batch/table.py
const form = document.querySelector("[data-table]"), text = form.querySelector("textarea"), fault = document.getElementById("table-fault");
const chooser = form.querySelector("[data-table-file]"), mediaChooser = form.querySelector("[data-media-files]"), uploads = form.querySelector("[data-uploads]");
const isMedia = (file) => /^(image|video)\//.test(file.type);

// Spreadsheets write UTF-8, or UTF-16 with a mark at the beginning.
function decoded(bytes) {
  const mark = new Uint8Array(bytes.slice(0, 2)).join(" ");
  return new TextDecoder({ "255 254": "utf-16le", "254 255": "utf-16be" }[mark] || "utf-8", { fatal: true }).decode(bytes);
}
async function read(file) {
  const refuse = (reason) => { fault.textContent = `Not read: ${file.name}. ${reason}`; fault.hidden = false; return false; };
  if (!file.size) return refuse("The file is empty.");
  if (file.size > 4 * CHARACTERS_MAX) return refuse("The table is too large. Render it in parts.");
  try {
    text.value = decoded(await file.arrayBuffer());
  } catch {
    return refuse("It is no text in UTF-8. Save the table as CSV UTF-8.");
  }
  fault.hidden = true;
  remember();
  return true;
}
// Keep the table in this tab until it is rendered (see renders.js), so that it survives a session that ends.
const place = `table ${form.getAttribute("action")}`;
function remember() {
  try { sessionStorage.setItem(place, text.value); } catch { /* The storage is full or off. */ }
}
text.addEventListener("input", remember);
if (text.value) remember();
else text.value = text.defaultValue = history.state?.table || sessionStorage.getItem(place) || "";
// Keep it for Back after it was rendered, too.
document.addEventListener("submit", () => {
  try { history.replaceState({ ...history.state, table: text.value }, ""); } catch { /* Browsers limit the size. */ }
});

// Upload a file. Its line in the list shows the progress and the outcome. Return true if it was uploaded.
async function send(file, line) {
  const place = document.createElement("span"), request = new AbortController();
  place.className = "uploading";
  line.classList.remove("fault");
  line.replaceChildren(`${file.name}: uploading…`, place);
  const { taken, reason, again } = await upload(file, place, request);
  const words = request.signal.aborted ? "cancelled" : taken ? "uploaded" : reason;
  line.classList.toggle("fault", !taken);
  show(line, `${file.name}: ${words}`);
  if (again && !taken) {
    line.append(place);
    offerAgain(file, place, async () => { if (await send(file, line) && !uploads.querySelector(".fault")) check(); });
  }
  return Boolean(taken);
}
const check = () => { if (text.value.trim()) form.requestSubmit(form.querySelector("button")); };
function lineFor() {
  const line = uploads.appendChild(document.createElement("li"));
  line.dir = "auto";
  uploads.hidden = false;
  return line;
}
// Upload pictures and videos one by one and read the table. Check the rows again if both have worked.
async function take(files) {
  const table = files.find((file) => !isMedia(file)), media = mediaChooser ? files.filter(isMedia) : [];
  const mayCheck = table ? await read(table) : true;
  const busy = [mediaChooser?.parentElement, form.querySelector("button")];
  if (media.length) busy.forEach((one) => one.setAttribute("aria-busy", "true"));
  let failed = 0;
  for (const file of media) if (!(await send(file, lineFor()))) failed++;
  if (media.length) busy.forEach((one) => one.removeAttribute("aria-busy"));
  if (mayCheck && !failed && (table || media.length)) check();
}
for (const one of [chooser, mediaChooser]) if (one) takeChosen(one, take);
takeDrops(() => text, (_place, files) => take([...files]));
