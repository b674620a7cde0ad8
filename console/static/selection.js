// Ticked renders of a list and their actions.
import { all, onArrival } from "./page.js";

function countSelection() {
  const bulk = document.querySelector("[data-bulk]");
  if (!bulk) return;
  const boxes = all("input[name=job]:checked"), chosen = boxes.length;
  const finished = boxes.filter((box) => box.closest("tr").dataset.status === "completed").length;
  bulk.classList.toggle("chosen", chosen > 0);
  bulk.querySelector("[data-selected]").textContent = `${chosen} selected:`;
  const download = bulk.querySelector("[data-download]");
  download.textContent = finished === chosen ? "Download" : `Download ${finished} of ${chosen}`;
  download.title = finished === chosen ? "" : "The others have no finished file.";
  download.disabled = chosen > 0 && finished === 0;
  bulk.querySelector("[data-compare]").disabled = chosen !== 2;
}
onArrival(countSelection);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-select-all]")) for (const box of all("input[name=job]")) box.checked = event.target.checked;
  if (event.target.matches("[data-select-all], input[name=job]")) countSelection();
});
