// Files dropped on a page. Outside of drop targets the page ignores them; a browser would replace the page with the file.
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
