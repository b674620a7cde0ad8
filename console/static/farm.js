// Live updates of the overview and the workers.
import { onEvent } from "./stream.js";
import { renew, show } from "./parts.js";

const WORKERS_MS = 4000;

onEvent("overview", (html) => show(document.getElementById("figures"), html));

async function refreshWorkers() {
  const workers = document.getElementById("workers");
  if (!workers) return;
  if (!document.hidden) await renew(workers, "/console/workers");
  setTimeout(refreshWorkers, WORKERS_MS);
}
setTimeout(refreshWorkers, WORKERS_MS);
