// Table of values: read a chosen or dropped CSV file and let the farm check it.
import { takeDrops } from "../drops.js";

const CHARACTERS_MAX = 1_000_000; // as in console/batch/table.py
const form = document.querySelector("[data-table]"), text = form.querySelector("textarea"), fault = document.getElementById("table-fault");

async function read(file) {
  const refuse = (reason) => { fault.textContent = reason; fault.hidden = false; };
  if (file.size > 4 * CHARACTERS_MAX) return refuse(`${file.name} is too large. Render it in parts.`);
  try {
    text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return refuse(`${file.name} is no text in UTF-8. Save the table as CSV UTF-8.`);
  }
  fault.hidden = true;
  form.requestSubmit();
}
const chooser = form.querySelector("[data-table-file]");
chooser.addEventListener("change", () => { if (chooser.files.length) read(chooser.files[0]); chooser.value = ""; });
takeDrops(() => text, (_place, files) => read(files[0]));
