// Files chosen by a file input or dropped on a page.

// Call `take(files)` with the files that are chosen.
export function takeChosen(chooser, take) {
  chooser.addEventListener("change", () => {
    const files = [...chooser.files];
    chooser.value = ""; // allow choosing the same file again
    if (files.length) take(files);
  });
}

// Outside of drop targets the page ignores dropped files; a browser would replace the page with the file.
const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));

// `placeOf(element)` returns the drop target for a file dropped on the element, or null. `take(place, files)` handles it.
export function takeDrops(placeOf, take) {
  let marked = null;
  const mark = (place) => {
    if (marked !== place) marked?.classList.remove("over");
    marked = place;
    marked?.classList.add("over");
  };
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(placeOf(event.target));
    event.dataTransfer.dropEffect = marked ? "copy" : "none";
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(null); });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    const place = placeOf(event.target);
    mark(null);
    if (place && event.dataTransfer.files.length) take(place, event.dataTransfer.files);
  });
}
