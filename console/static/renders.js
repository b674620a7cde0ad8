// Live updates of lists of renders and of a render's page. Progress is shown at once; other changes renew a part.
import { all, later, now, onArrival, span } from "./page.js";
import { giveUp, renew } from "./parts.js";
import { onEvent, onMissed } from "./stream.js";

const ENDED = new Set(["completed", "failed", "cancelled"]);
const changed = new Map(); // time of the last event and progress, by render
const rowOf = (job) => document.getElementById(`row-${job}`);
const results = () => document.getElementById("results");
const arrived = () => document.getElementById("arrived");
const detail = () => document.getElementById("live");

// ---- Progress ----
function left(holder, percent) {
  const started = Date.parse(holder.dataset.started || "");
  if (!started || percent < 2) return "";
  const seconds = (now() - started) / 1000;
  return `· ${span(Math.max(1, (seconds * (100 - percent)) / percent))} left`;
}
function showProgress(holder, percent) {
  const bar = holder.querySelector("[data-progress]");
  if (!bar || percent < bar.value) return; // an older message
  bar.value = percent;
  holder.querySelector("[data-percent]").textContent = `${percent < 100 ? percent.toFixed(1).replace(/\.0$/, "") : 100} %`;
  holder.querySelector("[data-left]").textContent = left(holder, percent);
}
// A response may be older than the progress that is already shown.
onArrival(() => {
  for (const holder of all("[data-job][data-started]")) {
    const progress = changed.get(holder.dataset.job)?.progress;
    if (progress !== undefined) showProgress(holder, progress);
  }
});

// ---- Parts ----
function refreshRow(job) {
  const row = rowOf(job);
  if (row) renew(row, `/console/renders/${job}/row`);
}
// A list that was requested before a render changed shows its former state.
function refreshRowsChangedSince(moment) {
  for (const row of all("tr[data-job]")) if (changed.get(row.dataset.job)?.at > moment) refreshRow(row.dataset.job);
}
// Do not renew a list while a person uses it: rows would move under the pointer.
function isInUse(list) {
  return list.querySelector("input:checked, details[open]") || list.contains(document.activeElement) || scrollY > 400;
}
function announce(text) {
  arrived().hidden = !text;
  arrived().textContent = text;
}
const jobsOf = (list) => all("tr[data-job]", list).map((row) => row.dataset.job).join();
// Renew the list, or announce new renders if the list is in use. Return true if it was renewed.
async function refreshList() {
  const list = results(), asked = performance.now();
  if (!list || !arrived() || list.dataset.newest !== "yes" || filtering || (!arrived().hidden && isInUse(list))) return false;
  const mayShow = (fresh) => {
    if (list !== results()) return false;
    const stays = isInUse(list) && jobsOf(fresh) !== jobsOf(list);
    announce(stays ? "New renders have arrived. Show them" : "");
    return !stays;
  };
  const shown = await renew(list, list.dataset.url, { mayShow });
  if (shown) refreshRowsChangedSince(asked);
  return shown;
}
function refreshDetail() {
  const part = detail();
  if (!part || ENDED.has(part.dataset.status)) return;
  renew(part, location.pathname).then((shown) => { if (shown && ENDED.has(part.dataset.status)) refreshPage(); });
}
// A table that is being rendered is no draft any more (see batch.js).
const drafted = document.getElementById("table")?.dataset.drafted;
if (drafted) sessionStorage.removeItem(drafted);

// The progress of a table, while renders of it have not ended.
function refreshTable() {
  const part = document.getElementById("table");
  if (part?.matches("[data-running]")) renew(part, part.dataset.url);
}
// The end of a render also changes its page's header.
const refreshPage = () => renew(document.getElementById("main"), location.pathname, { asks: "page" });

// ---- Filters: their response replaces pending lists, which are older ----
let filtering = 0; // time of the list's request
document.addEventListener("htmx:beforeRequest", (event) => {
  if (!event.target.matches("[data-filters]")) return;
  filtering = performance.now();
  giveUp(results());
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.target.matches("[data-filters]") || !filtering) return;
  const asked = filtering;
  filtering = 0;
  if (event.detail.successful) announce("");
  refreshRowsChangedSince(asked);
});

for (const kind of ["htmx:pushedIntoHistory", "htmx:replacedInHistory"]) {
  document.addEventListener(kind, (event) => {
    const clear = document.querySelector("[data-clear]");
    if (clear) clear.hidden = event.detail.path === clear.getAttribute("href");
  });
}

// ---- Events. A message has at most one event per render, so a new render may already be running or done ----
function belongsToList(job, status) {
  const list = results(), newest = list?.querySelector("tr[data-job]")?.dataset.job || "";
  return job > newest || new URLSearchParams(list?.dataset.url.split("?")[1]).get("status") === status; // ids start with the creation time
}
function apply(change) {
  later("table", 2000, refreshTable);
  const { job_id: job, status, progress } = change, row = rowOf(job), part = detail();
  if (row || part?.dataset.job === job) changed.set(job, { at: performance.now(), progress: progress ?? changed.get(job)?.progress });
  if (row) {
    if (progress !== undefined) showProgress(row, progress);
    const begins = change.frames_done !== undefined && row.dataset.status === "queued";
    if ((status && status !== row.dataset.status) || begins) later(job, 150, () => refreshRow(job));
  } else if (arrived() && status && belongsToList(job, status)) later("list", 1500, refreshList);
  if (part?.dataset.job !== job) return;
  if (progress !== undefined) showProgress(part, progress);
  if (status && status !== part.dataset.status) ENDED.has(status) ? later("page", 300, refreshPage) : later("detail", 200, refreshDetail);
  else later("detail", 2500, refreshDetail);
}
onEvent("changes", (data) => JSON.parse(data).forEach(apply));
async function refreshAll() {
  if (document.hidden) return;
  refreshDetail();
  refreshTable();
  if (filtering || (await refreshList())) return;
  for (const row of all("tr[data-job]")) if (!ENDED.has(row.dataset.status)) refreshRow(row.dataset.job); // keep the list
}
onEvent("missed", () => later("missed", 800, refreshAll));
onMissed(() => later("missed", 800, refreshAll));
document.addEventListener("click", (event) => {
  if (event.target.id !== "arrived") return;
  scrollTo({ top: 0 });
  for (const box of all("input[name=job], [data-select-all]")) box.checked = false;
  event.target.blur();
  refreshList();
});
