// The scripts of every page. Pages work without them; with them they are live. They ask no other host for anything.
//
//   page.js      small helpers: times, notices, the set-up of what arrives
//   parts.js     parts of the page, renewed in place while a person works with them
//   stream.js    the stream of events, and the connection to the farm
//   renders.js   lists of renders and the page of a render, live
//   selection.js the ticked renders of a list
//   farm.js      the overview and the workers, live
//   pictures.js  pictures that no worker has drawn yet
//   moving.js    posters of templates that move under the pointer
//   sheets.js    contact sheets, played
//   drops.js     files that are dropped on a page
//   controls.js  tabs, copying, forms, keys, two videos beside each other
//   batch/       the table of a template's values, loaded by its page
//   playground/  the playground of a template, loaded by its page
"use strict";
import "./controls.js";
import "./farm.js";
import "./moving.js";
import "./pictures.js";
import "./renders.js";
import "./selection.js";
import { setUp } from "./page.js";

document.addEventListener("htmx:afterSettle", (event) => setUp(event.target));
setUp(document);
