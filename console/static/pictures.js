// Request pictures again that failed or that no worker has drawn yet: one at a time, with increasing pauses.
import { all, onArrival } from "./page.js";

const PLACEHOLDER_WIDTH = 16, NEVER_WIDTH = 160, AGAIN_MS = 2000, AGAIN_MS_MAX = 60_000, FAILURES_MAX = 8;
const undrawn = new Map(); // element that shows each picture: an image, or a video with a poster
const failures = new WeakMap(); // failures by picture; a deleted picture is given up
const posters = new WeakSet(); // videos with pending posters
let asking = false, wait = AGAIN_MS;

const isUndrawn = (picture) => picture.naturalWidth === PLACEHOLDER_WIDTH;
function expectPicture(picture, shower = picture) {
  if (undrawn.has(picture)) return;
  undrawn.set(picture, shower);
  if (!asking) { asking = true; setTimeout(askAgain, wait); }
}
async function askAgain() {
  for (const [picture, shower] of undrawn) if (!shower.isConnected) undrawn.delete(picture);
  const [next] = undrawn;
  if (!next) { asking = false; wait = AGAIN_MS; return; }
  if (document.hidden) return setTimeout(askAgain, wait);
  const [picture, shower] = next, attribute = shower === picture ? "src" : "poster";
  const instead = shower.getAttribute(attribute), address = new URL(picture.src), drawn = new Image();
  address.searchParams.set("again", Date.now()); // browsers would reuse the placeholder from memory
  drawn.src = address;
  const came = await drawn.decode().then(() => !isUndrawn(drawn), () => { failures.set(picture, (failures.get(picture) || 0) + 1); return false; });
  undrawn.delete(picture);
  if (came && shower.getAttribute(attribute) === instead) { // it may have changed to another picture
    shower.dataset.instead = instead;
    shower[attribute] = drawn.src;
  } else if (!came && (isUndrawn(picture) || failures.get(picture) < FAILURES_MAX)) undrawn.set(picture, shower); // behind the other pictures
  wait = came ? 0 : Math.min(Math.max(wait, AGAIN_MS / 2) * 2, AGAIN_MS_MAX);
  setTimeout(askAgain, wait);
}
function expectPoster(video) {
  const picture = new Image();
  picture.onload = () => { if (isUndrawn(picture)) expectPicture(picture, video); };
  picture.src = video.poster;
}
const decorates = (picture) => picture.matches("img.poster, .screen img:not(#frame)"); // the playground handles its own frame
// The placeholder of a picture that cannot be drawn: an explanation can follow it.
function explain(picture) {
  const words = picture.closest(".screen")?.nextElementSibling;
  if (words?.matches("[data-undrawn]")) words.hidden = picture.naturalWidth !== NEVER_WIDTH;
}
document.addEventListener("load", ({ target }) => {
  if (!target.matches?.("img")) return;
  explain(target);
  if (isUndrawn(target)) expectPicture(target);
}, true);
document.addEventListener("error", (event) => { if (event.target.matches?.("img") && decorates(event.target)) expectPicture(event.target); }, true);
onArrival((root) => {
  for (const picture of all("img[src]", root)) {
    explain(picture);
    if (isUndrawn(picture) || (picture.complete && !picture.naturalWidth && decorates(picture))) expectPicture(picture);
  }
  for (const video of all("video[poster]", root)) if (!posters.has(video)) { posters.add(video); expectPoster(video); }
});
