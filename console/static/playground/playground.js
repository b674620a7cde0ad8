// Playground of a template: inputs with their faults, and the code of the same render.
import { all, onArrival, say } from "../page.js";
import { isJson, show } from "../requests.js";
import { askAgain, byId, form, post, remember, values } from "./form.js";
import { draw, redraw } from "./screen.js";
import { giveUp, nameButton, onUpload } from "./uploads.js";

const CHECK_MS = 250;
const fields = () => all("[data-field]", form);
const value = (holder) => holder.querySelector("[name]");

// ---- Changed inputs can be reset to the template's values. An upload is shown by its file name ----
const isChanged = (holder) => value(holder).value !== holder.dataset.designed;
function showChanges() {
  for (const holder of fields()) holder.querySelector("[data-reset]").hidden = !isChanged(holder);
  byId("reset-all").hidden = fields().filter(isChanged).length < 2;
}
function showUpload(holder, upload) {
  const file = holder.querySelector("[data-file]");
  if (!file) return;
  const picture = file.querySelector("[data-picture]");
  file.hidden = !upload;
  value(holder).hidden = Boolean(upload);
  file.querySelector("[data-name]").textContent = upload?.name || "";
  picture.hidden = !upload?.picture;
  if (upload?.picture) picture.src = upload.picture;
  nameButton(holder);
}
function reset(holders) {
  for (const holder of holders) {
    const field = value(holder);
    giveUp(holder);
    field.value = holder.dataset.designed;
    forget(holder.dataset.field);
    visited.delete(holder.dataset.field);
    showUpload(holder, null);
    showColour(field);
  }
  changed();
}
form.addEventListener("click", (event) => {
  if (!event.target.closest("[data-reset]")) return;
  const holder = event.target.closest("[data-field]");
  reset([holder]);
  value(holder).focus();
});
byId("reset-all").addEventListener("click", () => { reset(fields().filter(isChanged)); value(form.querySelector("[data-field]")).focus(); });

// ---- Faults. A missing value is a fault only after the person has visited its input or requested the render ----
const visited = new Set(all("[aria-invalid]", form).map((field) => field.closest("[data-field]").dataset.field));
const refused = new Map(); // faults of uploads by input, until the input changes
let checked = Object.fromEntries([...visited].map((id) => [id, byId(`fault-${id}`).textContent])); // faults of the last check, by input
let unfetched = {}; // faults of the media of the last frame, by input
function showFault(field, fault) {
  const text = byId(`fault-${field.id.replace(/^in-/, "")}`);
  text.hidden = !fault;
  show(text, fault || "");
  fault ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
}
let checks = 0, checking = 0;
async function check() {
  const turn = ++checks;
  const answer = await post("/check", values());
  const found = answer?.ok && isJson(answer) ? await answer.json().catch(() => null) : null;
  if (turn !== checks) return; // a later call checks values that changed meanwhile
  askAgain(answer);
  if (!found) return;
  checked = found.faults;
  showFaults();
  for (const pre of all("[data-code]")) if (found.code[pre.dataset.code]) pre.textContent = found.code[pre.dataset.code];
}
form.addEventListener("drawn", ({ detail: faults }) => { unfetched = faults; showFaults(); });
function showFaults() {
  for (const holder of fields()) {
    const id = holder.dataset.field, missing = value(holder).value === "" && !visited.has(id);
    showFault(value(holder), refused.get(id) || (missing ? "" : checked[id]) || unfetched[id]);
  }
  if (!form.querySelector("[aria-invalid]")) form.querySelector("[data-refusal]")?.remove();
}
const checkSoon = () => { clearTimeout(checking); checking = setTimeout(() => { remember(); check(); }, CHECK_MS); };

// ---- Entered values ----
function changed() {
  remember();
  showChanges();
  redraw();
  checks += 1; // a pending response belongs to former values
  checkSoon();
}
form.addEventListener("input", (event) => {
  const field = event.target, holder = field.closest("[data-field]");
  if (holder) visited.add(holder.dataset.field);
  if (field.dataset.colour) pick(byId(field.dataset.colour), field.value);
  showColour(field);
  if (field.dataset.upload) return;
  if (field.tagName === "SELECT") { remember(); redraw(); check(); return; }
  giveUp(holder);
  refused.delete(holder.dataset.field);
  delete unfetched[holder.dataset.field];
  changed();
});
function forget(id) {
  refused.delete(id);
  delete checked[id];
  delete unfetched[id];
}
onUpload(
  (holder, upload) => { say(`${upload.name} is uploaded.`); forget(holder.dataset.field); showFault(value(holder), ""); value(holder).value = upload.url; showUpload(holder, upload); changed(); },
  (holder, reason) => { refused.set(holder.dataset.field, reason); showFault(value(holder), reason); say(reason); },
);
// Arrow keys step numbers, as in the editor: by 1, with Shift by 10, with Alt by 0.1.
form.addEventListener("keydown", (event) => {
  const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key], field = event.target;
  if (!direction || !("number" in field.dataset) || event.ctrlKey || event.metaKey) return;
  const number = Number(field.value.trim().replace(",", "."));
  if (Number.isNaN(number)) return;
  event.preventDefault();
  field.value = Number((number + direction * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1)).toPrecision(15));
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
function pick(field, colour) {
  const [, alpha = ""] = cssColour(field.value).match(/^#[0-9a-f]{6}([0-9a-f]{2})$/i) || []; // stays
  field.value = colour + alpha;
}
const cssColour = (text) => (/^([0-9a-f]{6}|[0-9a-f]{8})$/i.test(text.trim()) ? `#${text.trim()}` : text); // as design programs copy it
function showColour(field) {
  const picker = form.querySelector(`[data-colour="${field.id}"]`), colour = cssColour(field.value);
  if (!picker || !CSS.supports("color", colour)) return;
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = colour; // reads as #rrggbb, or with alpha as rgba(r, g, b, a); a colour picker cannot show alpha
  const [, ...rgba] = pen.fillStyle.match(/^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/) || [];
  const opaque = rgba.length ? `#${rgba.slice(0, 3).map((one) => Number(one).toString(16).padStart(2, "0")).join("")}` : pen.fillStyle;
  if (opaque.startsWith("#") && rgba[3] !== "0") picker.value = picker.defaultValue = opaque;
}

// ---- The page loads, is restored from the cache, or is online again ----
for (const picker of all("[data-colour]", form)) showColour(byId(picker.dataset.colour));
onArrival(showChanges); // also after a refused render
const again = () => { draw(); check(); };
window.addEventListener("online", again);
form.addEventListener("again", again); // the farm had no answer
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  form.elements.once.value = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(""); // another render
});
