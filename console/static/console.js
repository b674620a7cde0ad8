// Scripts of every page. Pages work without scripts; scripts make them live. They use no other host.
//
//   page.js      elements, times, notices, set-up of new elements
//   requests.js  requests of scripts to the farm, reasons of failed ones
//   parts.js     update parts of the page in place, while a person works with them
//   stream.js    event stream, and state of the connection to the farm
//   renders.js   live updates of lists of renders and of a render's page
//   selection.js ticked renders of a list
//   farm.js      live updates of the overview and the workers
//   pictures.js  pictures that no worker has drawn yet
//   moving.js    posters of templates that play on hover
//   sheets.js    playback of contact sheets
//   files.js     files chosen or dropped on a page
//   imports.js   import of a project, with the progress of its upload
//   forms.js     forms, searches and colours, which htmx sends
//   entered.js   fields changed before the scripts were loaded, and a form that was sent without a session
//   controls.js  tabs, copying, keys, small dialogs, two videos side by side
//   batch/       table of a template's values, loaded by its page
//   playground/  playground of a template, loaded by its page
"use strict";
import "./controls.js";
import "./entered.js";
import "./farm.js";
import "./forms.js";
import "./imports.js";
import "./moving.js";
import "./pictures.js";
import "./renders.js";
import "./selection.js";
import { onArrival, setUp } from "./page.js";

onArrival((root) => { if (root !== document) htmx.process(root); });
document.addEventListener("htmx:afterSettle", (event) => setUp(event.target));
setUp(document);
document.documentElement.dataset.scripts = "run"; // SHOW_PAGE in console/pages.py
