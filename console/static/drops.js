// Files that are dropped on a page. Beside its places for files the page refuses them, where a browser would open them in its stead.
const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));

// `placeOf(element)` is the element that takes a file dropped there, or null; `take(place, files)` takes it.
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
