// Screen of the playground: the frame at a time, the playing draft, and the saved frame.
import { isJson, reasonOf, show } from "../requests.js";
import { askAgain, byId, forgetFailures, form, isPicture, post, values } from "./form.js";
import { play as playSheet } from "../sheets.js";

const frame = byId("frame"), screen = byId("screen"), draft = byId("draft"), time = byId("time"), clock = byId("clock"), busy = byId("busy");
const note = byId("preview-note"), latency = byId("latency"), play = byId("play");
const stage = screen.parentElement, narrow = matchMedia("(max-width: 1000px)");
const duration = Number(form.dataset.duration), FINE_MS = 500, SLOW_MS = 5000, BUSY_MS = 100, QUICK_WIDTH = 640;

function explain(reason) {
  show(note, reason);
  screen.classList.toggle("stale", Boolean(reason));
  if (!reason) return;
  latency.textContent = "";
  warn([]);
}
const warningsOf = (answer) => JSON.parse(decodeURIComponent(answer.headers.get("x-frame-warnings") || "[]"));
function warn(found) {
  const holder = byId("warnings");
  if (holder.dataset.shown === found.join("\n")) return;
  narrow.matches ? form.after(holder) : stage.append(holder); // above the inputs, it would move them when it appears
  holder.dataset.shown = found.join("\n");
  holder.hidden = !found.length;
  holder.querySelector("ul").replaceChildren(...found.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}
const STILL_DRAWING = "Still drawing. Frames with many effects or large media can take a while.";
let waits = 0; // number of slow requests that show the busy mark
function waitFor(answer, delay = 0) {
  let late = false;
  const timer = setTimeout(() => { late = true; waits += 1; busy.hidden = false; }, delay);
  const slow = setTimeout(() => { if (!note.textContent) show(note, STILL_DRAWING); }, SLOW_MS);
  return answer.finally(() => {
    clearTimeout(timer);
    clearTimeout(slow);
    if (late) waits -= 1;
    busy.hidden = waits === 0;
    if (!waits && note.textContent === STILL_DRAWING) show(note, "");
  });
}
function showClock() {
  clock.textContent = `${Number(time.value).toFixed(2)} / ${duration.toFixed(2)} s`;
  time.ariaValueText = `${time.value} of ${duration} s`;
}

// ---- Frame of the newest inputs, one request at a time ----
let drawing = false, again = false, picture = null;
export async function draw() {
  fine?.abort();
  if (drawing) { again = true; return; }
  drawing = true;
  const began = performance.now(), moment = time.value, inputs = inputValues();
  const answer = await waitFor(post("/preview", values({ time: moment })), BUSY_MS);
  const faults = await faultsOf(answer);
  if (isPicture(answer)) { forgetFailures(); await showFrame(await answer.blob().catch(() => null), performance.now() - began, moment, inputs); warn(warningsOf(answer)); }
  else explain(await reasonOf(answer, "The frame could not be drawn. Try again in a moment."));
  if (askAgain(answer)) { if (answer) note.append(" The page tries again by itself."); }
  else if (!again) form.dispatchEvent(new CustomEvent("drawn", { detail: faults }));
  drawing = false;
  if (again) { again = false; draw(); } else if (isPicture(answer)) drawFineSoon();
}
// Return the faults of the inputs that prevented the frame, by input.
const faultsOf = async (answer) => (isJson(answer) && (await answer.clone().json().catch(() => ({}))).faults) || {};
async function showFrame(blob, ms, moment, inputs) {
  if (!blob) return explain("The farm does not answer. Check the connection.");
  await showPicture(blob);
  explain("");
  tellUnseen(moment, inputs);
  latency.textContent = `drawn in ${Math.round(ms)} ms`;
  frame.dataset.ms = Math.round(ms);
  frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
}
// An input whose layer is not visible at this time leaves the frame as it was.
let former = null; // the last quick frame
const inputValues = () => JSON.stringify([...values()].filter(([name]) => name.startsWith("input."))); // another size changes no frame
function seen(moment, inputs) {
  const pen = new OffscreenCanvas(frame.naturalWidth, frame.naturalHeight).getContext("2d", { willReadFrequently: true });
  pen.drawImage(frame, 0, 0);
  return { moment, inputs, pixels: new Uint32Array(pen.getImageData(0, 0, frame.naturalWidth, frame.naturalHeight).data.buffer) };
}
function tellUnseen(moment, inputs) {
  const shown = seen(moment, inputs), isLater = former && former.inputs !== inputs && former.moment === moment;
  const isSame = isLater && former.pixels.length === shown.pixels.length && former.pixels.every((pixel, index) => pixel === shown.pixels[index]);
  if (isSame) show(note, `This change does not show at ${Number(moment).toFixed(2)} s. Move the time to see it.`);
  else former = shown;
}
async function showPicture(blob) {
  const url = URL.createObjectURL(blob);
  frame.src = url;
  await frame.decode().catch(() => {});
  frame.classList.remove("undrawn");
  if (picture) URL.revokeObjectURL(picture);
  picture = url;
  frame.hidden = playing !== null; // the draft is visible
}

// ---- The same frame in the screen's pixels, once nothing changes. It also brings the warnings about the page's first picture ----
let fine = null, fineTimer = 0, warned = false;
function drawFineSoon() {
  clearTimeout(fineTimer);
  fineTimer = setTimeout(drawFine, FINE_MS);
}
async function drawFine() {
  const width = Math.ceil(screen.clientWidth * devicePixelRatio);
  if (drawing || playing || loading || (warned && width <= QUICK_WIDTH)) return;
  const request = fine = new AbortController();
  const answer = await post("/preview", values({ time: time.value, width }), request.signal);
  const blob = isPicture(answer) && (await answer.blob().catch(() => null));
  if (!blob || request.signal.aborted || drawing) return;
  warned = true;
  warn(warningsOf(answer));
  if (!playing) await showPicture(blob);
}

// ---- Draft: a contact sheet, played in a loop ----
let playing = null, sheet = null, loading = 0; // function that stops the animation; frames; number of the pending sheet request
function stop() {
  loading = 0;
  play.textContent = "Play draft";
  play.setAttribute("aria-pressed", "false");
  if (!playing) return;
  playing();
  playing = null;
  draft.hidden = true;
  frame.hidden = false;
}
async function loadSheet() {
  const answer = await waitFor(post("/preview", values({ draft: "1" })));
  if (isPicture(answer)) return answer.blob().then(createImageBitmap).catch(() => null);
  explain(await reasonOf(answer, "The draft could not be drawn. Try again in a moment."));
  return null;
}
function start() {
  draft.hidden = false;
  frame.hidden = true;
  playing = playSheet(sheet, draft, { duration, fps: Number(form.dataset.fps) }, (moment) => { time.value = moment; showClock(); });
}
let turns = 0;
play.addEventListener("click", async () => {
  if (loading) return stop();
  if (playing) { stop(); return draw(); } // the frame at the draft's current time
  const turn = (loading = ++turns);
  play.textContent = "Stop";
  play.setAttribute("aria-pressed", "true");
  const drawn = sheet || (await loadSheet());
  if (loading !== turn) return; // the inputs have changed, or the person has stopped the draft
  loading = 0;
  if (!drawn) return stop();
  sheet = drawn;
  start();
});

// ---- Redraw and save ----
// Draw the entered values. Stop the draft of former values.
export function redraw() {
  stop();
  sheet = null;
  draw();
}
byId("save-frame").addEventListener("click", async ({ currentTarget: button }) => {
  if (button.ariaBusy) return;
  button.ariaBusy = "true";
  const moment = Number(time.value).toFixed(2);
  const answer = await waitFor(post("/preview", values({ time: time.value, save: "1" })));
  button.ariaBusy = null;
  if (!isPicture(answer)) return explain(await reasonOf(answer, "The frame could not be drawn. Try again in a moment."));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = `${form.dataset.name.replace(/[\\/:*?"<>|]/g, "-")} ${moment} s.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
});
time.addEventListener("input", () => { stop(); showClock(); draw(); });
const undrawn = () => { frame.classList.add("undrawn"); draw(); }; // the first picture failed; a new request returns the reason
frame.addEventListener("error", undrawn, { once: true });
const loaded = () => { former = seen(time.value, inputValues()); drawFineSoon(); };
if (frame.complete) frame.naturalWidth ? loaded() : undrawn();
else {
  frame.addEventListener("load", () => { if (!drawing) loaded(); }, { once: true });
  waitFor(new Promise((done) => { for (const end of ["load", "error"]) frame.addEventListener(end, done, { once: true }); }), BUSY_MS);
}
showClock();
