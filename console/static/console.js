// The console's own script. Pages work without it; with it they are live. No dependency but htmx, no request to another host.
"use strict";
(() => {
  const csrf = () => document.body.dataset.csrf || "";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- Times: relative, and kept up to date ----
  const STEPS = [[31536000, "y"], [2592000, "mo"], [86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const span = (seconds) => { for (const [size, unit] of STEPS) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`; return "0 s"; };
  const skew = (() => { const mark = document.querySelector("meta[name=server-time]"); return mark ? Date.parse(mark.content) - Date.now() : 0; })();
  const now = () => Date.now() + skew;
  function refreshTimes() {
    for (const mark of all("time[data-relative]")) {
      const seconds = (now() - Date.parse(mark.dateTime)) / 1000;
      const text = Math.abs(seconds) < 1 ? "just now" : seconds > 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
      if (mark.textContent !== text) mark.textContent = text;
    }
  }

  // ---- Live changes of renders: one stream a tab, closed while nobody looks ----
  const ENDED = new Set(["completed", "failed", "cancelled"]);
  const stream = document.querySelector("[sse-connect]");
  function live(on) {
    if (!stream || !window.htmx) return;
    window.htmx.trigger(stream, on ? "htmx:afterProcessNode" : "htmx:beforeCleanupElement");
    if (on) for (const part of all("[sse-swap]", stream)) window.htmx.trigger(part, "htmx:afterProcessNode");
  }
  let open = !document.hidden;
  document.addEventListener("visibilitychange", () => {
    const wanted = !document.hidden;
    if (wanted === open) return;
    open = wanted;
    live(wanted);
    if (wanted) { refreshTimes(); refreshAll(); }
  });
  window.addEventListener("pagehide", () => live(false));

  function left(holder, percent) {
    const started = Date.parse(holder.dataset.started || "");
    if (!started || percent < 2) return "";
    const seconds = (now() - started) / 1000;
    return `· ${span(Math.max(1, (seconds * (100 - percent)) / percent))} left`;
  }
  function showProgress(holder, percent) {
    for (const bar of all("[data-progress]", holder)) if (percent > bar.value) bar.value = percent;
    for (const text of all("[data-percent]", holder)) text.textContent = `${percent < 100 ? percent.toFixed(1).replace(/\.0$/, "") : 100} %`;
    for (const text of all("[data-left]", holder)) text.textContent = left(holder, percent);
  }
  const pending = new Map();
  function later(key, wait, act) {
    if (pending.has(key)) return;
    pending.set(key, setTimeout(() => { pending.delete(key); act(); }, wait));
  }
  // Ask for a part of the page anew. The part is the source too: of several requests of one source htmx keeps but the last.
  const renew = (part, url) => window.htmx.ajax("GET", url, { source: part, target: part, swap: "outerHTML" });
  function refreshRow(id) {
    const row = document.getElementById(`row-${id}`);
    if (!row) return;
    const chosen = row.querySelector("input:checked");
    renew(row, `/console/renders/${id}/row`).then(() => {
      const box = document.querySelector(`#row-${id} input[name=job]`);
      if (chosen && box) { box.checked = true; countSelection(); }
    });
  }
  function refreshDetail() {
    const live = document.getElementById("live");
    if (!live) return;
    const video = live.querySelector("video");
    if (video && !video.paused) return;
    const ended = () => ENDED.has(document.getElementById("live")?.dataset.status);
    if (ended()) return;
    const unfolded = document.getElementById("technical")?.open;
    renew(live, location.pathname).then(() => {
      if (ended()) return location.reload(); // the head changes too
      const technical = document.getElementById("technical");
      if (technical && unfolded !== undefined) technical.open = unfolded;
    });
  }
  function refreshList() {
    const list = document.getElementById("results");
    if (!list || list.dataset.newest !== "yes" || !list.dataset.url) return;
    const busy = list.querySelector("input:checked, details[open]") || list.contains(document.activeElement) || scrollY > 400;
    const arrived = document.getElementById("arrived");
    if (busy) {
      if (arrived) { arrived.hidden = false; arrived.textContent = "New renders have arrived. Show them"; }
      return;
    }
    if (arrived) arrived.hidden = true;
    renew(list, list.dataset.url);
  }
  function refreshAll() { if (!window.htmx) return; refreshList(); refreshDetail(); }
  function apply(changes) {
    const detail = document.getElementById("live");
    for (const change of changes) {
      const row = document.getElementById(`row-${change.job_id}`);
      if (row) {
        if (change.progress !== undefined) showProgress(row, change.progress);
        if (change.status && change.status !== row.dataset.status) later(change.job_id, 150, () => refreshRow(change.job_id));
        else if (change.frames_done !== undefined && row.dataset.status === "queued") later(change.job_id, 150, () => refreshRow(change.job_id));
      } else if (document.getElementById("arrived") && change.status === "queued") later("list", 1500, refreshList);
      if (detail && detail.dataset.job === change.job_id) {
        if (change.progress !== undefined) showProgress(detail, change.progress);
        if (change.status && change.status !== detail.dataset.status) ENDED.has(change.status) ? later("page", 300, () => location.reload()) : later("detail", 200, refreshDetail);
        else later("detail", 2500, refreshDetail);
      }
    }
  }
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (event.detail.type === "changes") { event.preventDefault(); apply(JSON.parse(event.detail.data)); }
    if (event.detail.type === "missed") { event.preventDefault(); later("missed", 800, refreshAll); }
    if (event.detail.type === "overview" && event.target.contains(document.activeElement)) event.preventDefault();
  });
  setInterval(() => { if (!document.hidden) refreshTimes(); }, 5000);
  setInterval(() => { if (!document.hidden && !document.querySelector("#workers :focus, #workers details[open]")) document.body.dispatchEvent(new Event("farm:tick")); }, 4000);

  // ---- Pictures that no worker has drawn yet: asked for again, one at a time, less often while none comes ----
  const PLACEHOLDER_WIDTH = 16, AGAIN_MS = 2000, AGAIN_MS_MAX = 60_000;
  const undrawn = new Map(); // the element that shows each picture; a video shows its poster
  let asking = false, wait = AGAIN_MS;
  const isUndrawn = (picture) => picture.naturalWidth === PLACEHOLDER_WIDTH;
  function expectPicture(picture, shower = picture) {
    if (!isUndrawn(picture) || undrawn.has(picture)) return;
    undrawn.set(picture, shower);
    if (!asking) { asking = true; setTimeout(askAgain, wait); }
  }
  async function askAgain() {
    for (const [picture, shower] of undrawn) if (!shower.isConnected) undrawn.delete(picture);
    const [next] = undrawn;
    if (!next) { asking = false; wait = AGAIN_MS; return; }
    if (document.hidden) return setTimeout(askAgain, wait);
    const [picture, shower] = next, address = new URL(picture.src), drawn = new Image();
    address.searchParams.set("again", Date.now()); // browsers would take the placeholder from memory
    drawn.src = address;
    const came = await drawn.decode().then(() => !isUndrawn(drawn), () => false);
    undrawn.delete(picture);
    if (came) shower[shower === picture ? "src" : "poster"] = drawn.src;
    else undrawn.set(picture, shower); // after the others
    wait = came ? 0 : Math.min(Math.max(wait, AGAIN_MS / 2) * 2, AGAIN_MS_MAX);
    setTimeout(askAgain, wait);
  }
  function expectPoster(video) {
    const picture = new Image();
    picture.onload = () => expectPicture(picture, video);
    picture.src = video.poster;
  }
  document.addEventListener("load", (event) => { if (event.target.matches?.("img")) expectPicture(event.target); }, true);

  // ---- Lists: the selection ----
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
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) for (const box of all("input[name=job]")) box.checked = event.target.checked;
    if (event.target.matches("[data-select-all], input[name=job]")) countSelection();
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });
  document.addEventListener("click", (event) => {
    if (event.target.id === "arrived") { scrollTo({ top: 0 }); for (const box of all("input[name=job]:checked")) box.checked = false; event.target.blur(); refreshList(); }
  });

  // ---- Code: tabs and copying ----
  function setUp(root) {
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
    for (const picture of all("img", root)) expectPicture(picture);
    for (const video of all("video[poster]", root)) expectPoster(video);
    countSelection();
    refreshTimes();
  }
  // Browsers have `navigator.clipboard` only over HTTPS and on localhost; elsewhere the selection of a field is copied.
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
    button.dataset.busy = "yes";
    setTimeout(() => { button.textContent = before; delete button.dataset.busy; }, 1500);
  });

  // ---- Two videos beside each other: played and moved together ----
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

  // ---- Import: drop a project anywhere on the form ----
  for (const drop of all("[data-drop]")) {
    const input = drop.querySelector("input[type=file]");
    const over = (on) => (event) => { event.preventDefault(); drop.classList.toggle("over", on); };
    drop.addEventListener("dragover", over(true));
    drop.addEventListener("dragleave", over(false));
    drop.addEventListener("drop", (event) => {
      over(false)(event);
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      drop.requestSubmit();
    });
  }

  // ---- Forms are sent once, however often their button is pressed ----
  const sent = new Set();
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post" || event.submitter?.matches("[data-download]")) return;
    if (sent.has(event.target)) return event.preventDefault();
    sent.add(event.target);
    event.submitter?.setAttribute("aria-busy", "true");
    setTimeout(() => release(event.target), 10_000); // the browser may have been told to stop
  });
  function release(form) {
    sent.delete(form);
    for (const button of all("[aria-busy]", form)) button.removeAttribute("aria-busy");
  }
  window.addEventListener("pageshow", () => sent.forEach(release));

  // ---- Keys: / searches ----
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const search = document.querySelector("[data-search]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  });
  document.addEventListener("click", (event) => {
    for (const open of all("details.pop[open]")) if (!open.contains(event.target)) open.open = false;
  });

  // ---- Playground: a live frame, faults next to their fields, a draft ----
  const form = document.querySelector("[data-playground]");
  if (form) {
    const base = form.dataset.playground;
    const duration = Number(form.dataset.duration);
    const byId = (id) => document.getElementById(id);
    const frame = byId("frame"), screen = byId("screen"), draft = byId("draft"), time = byId("time"), clock = byId("clock"), busy = byId("busy");
    const note = byId("preview-note"), latency = byId("latency"), play = byId("play");
    let drawing = false, again = false, waiting = 0, picture = null, playing = 0, sheet = null;

    const values = (extra = {}) => {
      const data = new URLSearchParams(new FormData(form));
      for (const [name, value] of Object.entries(extra)) data.set(name, value);
      return data;
    };
    const headers = { "X-CSRF-Token": csrf(), "HX-Request": "true" };
    const post = (path, data) => fetch(base + path, { method: "POST", body: data, headers });
    const isJson = (answer) => (answer.headers.get("content-type") || "").includes("json");

    // Values stay in the address: reloading the page, the colours of the console and a new sign-in keep them.
    const ADDRESS_MAX = 8000;
    function remember() {
      const data = new URLSearchParams([...new FormData(form)].filter(([name]) => /^(input|output)\./.test(name)));
      const address = `${base}/playground?${data}`;
      history.replaceState(history.state, "", address.length > ADDRESS_MAX ? `${base}/playground` : address);
    }

    // Return why an answer is not what was asked for: its own reason, a lost session, or `words`.
    async function reasonOf(answer, words) {
      if (!answer) return "The farm does not answer. Check the connection.";
      if (answer.headers.get("hx-redirect")) return SIGNED_OUT;
      if (isJson(answer)) return (await answer.json().catch(() => ({}))).message || words;
      if ((answer.headers.get("content-type") || "").startsWith("text/plain")) return answer.text();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      return page.querySelector(".notice strong")?.textContent || words;
    }
    const SIGNED_OUT = "You are signed out.";
    function show(text, reason) {
      text.textContent = reason;
      if (reason !== SIGNED_OUT) return;
      const link = document.createElement("a");
      link.href = `/console/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;
      link.textContent = "Sign in again";
      text.append(" ", link);
    }
    function explain(reason) {
      show(note, reason);
      screen.classList.toggle("stale", Boolean(reason));
      if (reason) latency.textContent = "";
    }
    const showClock = () => { clock.textContent = `${Number(time.value).toFixed(2)} / ${duration.toFixed(2)} s`; };

    async function draw() {
      if (drawing) { again = true; return; }
      drawing = true;
      const began = performance.now();
      waiting = setTimeout(() => { busy.hidden = false; }, 150);
      const answer = await post("/preview", values({ time: time.value })).catch(() => null);
      if ((answer?.headers.get("content-type") || "").startsWith("image/")) {
        const url = URL.createObjectURL(await answer.blob());
        frame.src = url;
        await frame.decode().catch(() => {});
        if (picture) URL.revokeObjectURL(picture);
        picture = url;
        frame.hidden = false;
        explain("");
        const ms = Math.round(performance.now() - began);
        latency.textContent = `drawn in ${ms} ms`;
        frame.dataset.ms = ms;
        frame.dataset.drawn = String(Number(frame.dataset.drawn || 0) + 1);
      } else explain(await reasonOf(answer, "The frame could not be drawn. Try again in a moment."));
      clearTimeout(waiting);
      busy.hidden = true;
      drawing = false;
      if (again) { again = false; draw(); }
    }

    // Inputs that differ from the template can be put back; an upload is shown by the name of its file.
    const value = (holder) => holder.querySelector("[name]");
    const isChanged = (holder) => value(holder).value !== holder.dataset.designed;
    function showChanges() {
      for (const holder of all("[data-field]", form)) holder.querySelector("[data-reset]").hidden = !isChanged(holder);
      byId("reset-all").hidden = all("[data-field]", form).filter(isChanged).length < 2;
    }
    function showUpload(holder, upload) {
      const file = holder.querySelector("[data-file]");
      if (!file) return;
      const picture = file.querySelector("[data-picture]");
      file.hidden = !upload;
      value(holder).hidden = Boolean(upload);
      holder.querySelector("[data-upload-label] span").textContent = upload ? "Replace" : "Upload";
      file.querySelector("[data-name]").textContent = upload?.name || "";
      picture.hidden = !upload?.picture;
      if (upload?.picture) picture.src = upload.picture;
    }
    function reset(holders) {
      for (const holder of holders) {
        const field = value(holder);
        field.value = holder.dataset.designed;
        refused.delete(holder.dataset.field);
        visited.delete(holder.dataset.field);
        showUpload(holder, null);
        showColour(field);
      }
      changed();
    }
    form.addEventListener("click", (event) => {
      if (!event.target.closest("[data-reset]")) return;
      const holder = event.target.closest("[data-field]");
      reset([holder]);
      value(holder).focus();
    });
    byId("reset-all").addEventListener("click", () => { reset(all("[data-field]", form).filter(isChanged)); value(form.querySelector("[data-field]")).focus(); });

    // A missing value is a fault only once the person has been at its input, or has asked for the render.
    const visited = new Set(all("[aria-invalid]", form).map((field) => field.closest("[data-field]").dataset.field));
    form.addEventListener("input", (event) => { const holder = event.target.closest("[data-field]"); if (holder) visited.add(holder.dataset.field); });
    const refused = new Map(); // faults of uploads by input, until the input changes
    function showFault(field, fault) {
      const text = byId(`fault-${field.id.replace(/^in-/, "")}`);
      text.hidden = !fault;
      show(text, fault || "");
      fault ? field.setAttribute("aria-invalid", "true") : field.removeAttribute("aria-invalid");
    }

    let checked = 0;
    async function check() {
      const turn = ++checked;
      const answer = await post("/check", values()).catch(() => null);
      if (!answer?.ok || !isJson(answer) || turn !== checked) return; // what is typed meanwhile is checked by a later call
      const { faults, code } = await answer.json();
      for (const holder of all("[data-field]", form)) {
        const id = holder.dataset.field, missing = value(holder).value === "" && !visited.has(id);
        showFault(value(holder), refused.get(id) || (missing ? "" : faults[id]));
      }
      for (const pre of all("[data-code]")) if (code[pre.dataset.code]) pre.textContent = code[pre.dataset.code];
    }

    let checking = 0;
    function changed() {
      remember();
      showChanges();
      stop();
      sheet = null;
      draw();
      clearTimeout(checking);
      checking = setTimeout(check, 250);
    }
    function showColour(field) {
      const picker = form.querySelector(`[data-colour="${field.id}"]`);
      if (!picker || !CSS.supports("color", field.value)) return;
      const pen = document.createElement("canvas").getContext("2d");
      pen.fillStyle = field.value;
      if (/^#[0-9a-f]{6}$/.test(pen.fillStyle)) picker.value = pen.fillStyle; // colours with alpha are no value of a picker
    }
    // Arrow keys step numbers, as in the editor: by 1, with Shift by 10, with Alt by 0.1.
    form.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key], field = event.target;
      if (!direction || !("number" in field.dataset) || event.ctrlKey || event.metaKey) return;
      const value = Number(field.value.trim().replace(",", "."));
      if (Number.isNaN(value)) return;
      event.preventDefault();
      field.value = Number((value + direction * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1)).toPrecision(15));
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    form.addEventListener("input", (event) => {
      const colour = event.target.dataset.colour;
      if (colour) byId(colour).value = event.target.value;
      showColour(event.target);
      if (event.target.dataset.upload) return;
      if (event.target.tagName === "SELECT") { remember(); check(); return; }
      refused.delete(event.target.closest("[data-field]").dataset.field);
      changed();
    });
    form.addEventListener("change", async (event) => {
      const target = event.target.dataset.upload;
      if (!target || !event.target.files.length) return;
      const data = new FormData();
      data.append("file", event.target.files[0]);
      event.target.value = ""; // so that the same file can be chosen again
      const holder = byId(target).closest("[data-field]"), label = event.target.closest("label").firstChild, before = label.textContent;
      label.textContent = "Uploading…";
      const answer = await fetch("/console/uploads", { method: "POST", body: data, headers }).catch(() => null);
      label.textContent = before;
      const id = holder.dataset.field;
      refused.delete(id);
      if (answer?.ok && isJson(answer)) {
        const upload = await answer.json();
        byId(target).value = upload.url;
        showUpload(holder, upload);
        changed();
        return;
      }
      refused.set(id, await reasonOf(answer, "The upload failed. Try again."));
      showFault(byId(target), refused.get(id));
    });
    time.addEventListener("input", () => { stop(); showClock(); draw(); });
    const undrawn = () => { frame.hidden = true; draw(); }; // the first picture failed; asking again brings the reason
    frame.addEventListener("error", undrawn, { once: true });
    if (frame.complete && !frame.naturalWidth) undrawn();
    for (const picker of all("[data-colour]", form)) showColour(byId(picker.dataset.colour));
    if (location.pathname.endsWith("/render")) { // the answer to a refused render
      remember();
      form.querySelector("[aria-invalid]")?.focus();
    }

    byId("save-frame").addEventListener("click", async () => {
      busy.hidden = false;
      const answer = await post("/preview", values({ time: time.value, save: "1" })).catch(() => null);
      busy.hidden = true;
      if (!(answer?.headers.get("content-type") || "").startsWith("image/")) return explain(await reasonOf(answer, "The frame could not be drawn. Try again in a moment."));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = `${form.dataset.name.replace(/[\\/:*?"<>|]/g, "-")} ${Number(time.value).toFixed(2)} s.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    });

    function stop() {
      if (!playing) return;
      cancelAnimationFrame(playing);
      playing = 0;
      play.textContent = "Play draft";
      play.setAttribute("aria-pressed", "false");
      draft.hidden = true;
      frame.hidden = false;
    }
    async function loadSheet() {
      busy.hidden = false;
      const answer = await post("/preview", values({ draft: "1" })).catch(() => null);
      busy.hidden = true;
      if (!(answer?.headers.get("content-type") || "").startsWith("image/")) { explain(await reasonOf(answer, "The draft could not be drawn. Try again in a moment.")); return null; }
      return createImageBitmap(await answer.blob());
    }
    play.addEventListener("click", async () => {
      if (playing) { stop(); return draw(); } // the frame of the moment at which the draft stood
      sheet = sheet || (await loadSheet());
      if (!sheet) return;
      const columns = Math.min(5, Math.round(sheet.width / 320) || 5), width = sheet.width / columns;
      const height = Math.round((width * Number(form.dataset.height)) / Number(form.dataset.width));
      const count = columns * Math.max(1, Math.round(sheet.height / height));
      draft.width = width;
      draft.height = height;
      draft.hidden = false;
      frame.hidden = true;
      play.textContent = "Stop";
      play.setAttribute("aria-pressed", "true");
      const began = performance.now(), pen = draft.getContext("2d");
      const turn = (moment) => {
        const at = ((moment - began) / 1000) % duration, index = Math.min(count - 1, Math.floor((at / duration) * count));
        pen.drawImage(sheet, (index % columns) * width, Math.floor(index / columns) * height, width, height, 0, 0, width, height);
        time.value = at;
        showClock();
        playing = requestAnimationFrame(turn);
      };
      playing = requestAnimationFrame(turn);
    });
    showClock();
    showChanges();
  }

  document.addEventListener("htmx:afterSettle", (event) => setUp(event.target));
  document.addEventListener("DOMContentLoaded", () => setUp(document));
  setUp(document);
})();
