// Controls of pages: tabs, copying, keys, small dialogs, two videos side by side.
import { all, onArrival, say } from "./page.js";

// ---- Code: tabs and copying ----
onArrival((root) => {
  for (const holder of all("[data-tabs]", root)) {
    const tabs = all("[role=tab]", holder);
    if (!tabs.length || holder.dataset.ready) continue;
    holder.dataset.ready = "yes";
    const choose = (chosen, focus) => {
      for (const tab of tabs) {
        const selected = tab === chosen;
        tab.setAttribute("aria-selected", String(selected));
        tab.tabIndex = selected ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
      }
      if (focus) chosen.focus();
    };
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) choose(tabs[(index + step + tabs.length) % tabs.length], true);
      });
    });
    choose(tabs[0]);
  }
});
// `navigator.clipboard` exists only over HTTPS and on localhost. Elsewhere, copy the selection of a temporary field.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const field = document.createElement("textarea"), focused = document.activeElement;
  field.value = text;
  field.className = "hidden-text";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return copied;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button || button.dataset.busy) return;
  const source = document.getElementById(button.dataset.copy);
  const copied = await copy((source.querySelector("pre") || source).textContent);
  const before = button.textContent;
  button.textContent = copied ? "Copied" : "Not copied";
  say(button.textContent);
  button.dataset.busy = "yes";
  setTimeout(() => { button.textContent = before; delete button.dataset.busy; }, 1500);
});

// ---- Two videos side by side: play and seek together ----
const pair = document.querySelector("[data-pair]"), both = document.querySelector("[data-play-both]");
const videos = pair ? all("video", pair) : [];
if (videos.length === 2) {
  both.hidden = false;
  both.addEventListener("click", () => {
    const start = videos.every((video) => video.paused);
    for (const video of videos) { if (video.ended) video.currentTime = 0; start ? video.play() : video.pause(); }
  });
  const other = (video) => videos[1 - videos.indexOf(video)];
  for (const video of videos) {
    for (const kind of ["play", "pause", "ended"]) video.addEventListener(kind, () => { both.querySelector("span").textContent = videos.every((one) => one.paused) ? "Play both" : "Pause both"; });
    video.addEventListener("seeked", () => { if (Math.abs(other(video).currentTime - video.currentTime) > 0.1) other(video).currentTime = Math.min(video.currentTime, other(video).duration || 0); });
  }
}

// ---- A bar shows at once that another page is on its way ----
const root = document.documentElement.dataset;
window.navigation?.addEventListener("navigate", ({ destination, downloadRequest }) => {
  if (destination.sameDocument || downloadRequest !== null) return;
  root.leaving = "yes";
  setTimeout(arrive, 30_000); // the person may have stopped it, or it is a file
});
const arrive = () => delete root.leaving;
window.addEventListener("pageshow", arrive);

// ---- Keys: / searches ----
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const search = document.querySelector("[data-search]");
  if (search) { event.preventDefault(); search.focus(); search.select(); }
});

// ---- Small dialogs: a click outside and Escape close them, and typing goes to their field ----
document.addEventListener("click", (event) => {
  for (const open of all("details.pop[open]")) if (!open.contains(event.target)) open.open = false;
});
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("details.pop[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("toggle", (event) => {
  const field = event.target.matches("details.pop[open]") && event.target.querySelector("input:not([type=hidden])");
  if (field) { field.focus(); field.select(); }
}, true);
