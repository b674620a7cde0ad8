// Play posters of templates while they are hovered or focused, unless the person prefers reduced motion.
import { play } from "./sheets.js";

const REST_MS = 350, PLACEHOLDER_WIDTH_MAX = 160;
const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
let area = null, leave = () => {}; // hovered or focused card, and a function that stops its playback

const areaOf = (element) => element.closest?.(".template-card:has([data-sheet]), [data-sheet]") || null;
function enter(entered) {
  if (entered === area) return;
  leave();
  area = entered;
  leave = () => { area = null; };
  if (!entered || lessMotion.matches) return;
  const holder = entered.matches("[data-sheet]") ? entered : entered.querySelector("[data-sheet]");
  const bar = document.createElement("div"), canvas = document.createElement("canvas"), sheet = new Image();
  bar.className = "busy-bar";
  let stop = () => {}, left = false;
  const timer = setTimeout(async () => {
    holder.append(bar);
    sheet.src = holder.dataset.sheet;
    const drawn = await sheet.decode().then(() => sheet.width > PLACEHOLDER_WIDTH_MAX, () => false);
    bar.remove();
    if (!drawn || left) return;
    const { duration, fps } = holder.dataset;
    holder.append(canvas);
    stop = play(sheet, canvas, { duration: Number(duration), fps: Number(fps) });
  }, REST_MS);
  leave = () => { left = true; clearTimeout(timer); stop(); bar.remove(); canvas.remove(); area = null; };
}
document.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") enter(areaOf(event.target)); });
document.documentElement.addEventListener("pointerleave", () => enter(null));
document.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) enter(areaOf(event.target)); });
document.addEventListener("focusout", (event) => { if (area?.contains(event.target)) enter(null); });
window.addEventListener("pagehide", () => enter(null));
