// Calls as they happen, and the figures of the last hour and day.
import { element, fill, focusBySlash } from "./dom.js";
import { follow } from "./events.js";
import { getJson } from "./requests.js";
import { drawPlots } from "./plots.js";

const MOST_ROWS = 300;
const FIGURES_MS = 30000;
const SPACING_MS = 5000;
const AGAIN_MS = 2000;
const KINDS = { ok: "good", validation: "warn", business: "warn", system: "bad" };
const find = (id) => document.getElementById(id);
const [rows, state, form, older, pause] = ["calls", "state", "filter", "older", "pause"].map(find);
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const outcomes = new Map([...form.elements.outcome.options].map((option) => [option.value, option.text]));
let events = null;
let paused = false;
let held = [];
let span = "hour";
let round = 0;
let again = 0;

const query = () => new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()));

function time(seconds) {
  const when = new Date(seconds * 1000);
  const words = clock.format(when);
  const shown = Date.now() - when < 43200000 ? words : `${day.format(when)}, ${words}`;
  return element("time", { datetime: when.toISOString(), title: when.toString() }, shown);
}

function milliseconds(ms) {
  return ms < 10 ? ms.toFixed(2) : ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString();
}

function row(call) {
  const cell = (name, ...content) => element("td", { class: name }, ...content);
  return element("tr", { "data-id": call.id },
    cell("when", time(call.time)),
    cell("tool", element("a", { href: `/console/live/${call.id}` }, call.tool), " ", element("small", {}, call.server)),
    cell("caller", call.caller),
    cell("agent", call.agent),
    cell("outcome", element("span", { class: `tag ${KINDS[call.outcome] ?? ""}`, title: call.error_type }, outcomes.get(call.outcome) ?? call.outcome),
      call.cached ? [" ", element("span", { class: "tag" }, "cached")] : null),
    cell("number ms", milliseconds(call.ms)),
    cell("number tokens", call.tokens.toLocaleString()));
}

function show(calls) {
  rows.prepend(...calls.map(row).reverse());
  while (rows.childElementCount > MOST_ROWS) rows.lastElementChild.remove();
  if (rows.childElementCount === MOST_ROWS) older.hidden = false;
  say();
}

function say(words = null) {
  if (words !== null) state.textContent = words;
  else if (paused) state.textContent = held.length ? `Paused. ${held.length} new ${held.length === 1 ? "call" : "calls"}.` : "Paused.";
  else if (rows.childElementCount) state.textContent = "New calls appear at the top.";
  else state.textContent = query().size ? "No call matches. New calls that match appear here." : "No calls yet. New calls appear here.";
}

async function load() {
  const mine = ++round;
  events?.close();
  clearTimeout(again);
  const wanted = query();
  history.replaceState(null, "", wanted.size ? `?${wanted}` : location.pathname);
  let found;
  try {
    found = await getJson(`/console/live/calls?${wanted}`);
  } catch (error) {
    if (mine !== round) return;
    say(`${error.message} Trying again.`);
    again = setTimeout(load, AGAIN_MS);
    return;
  }
  if (mine !== round) return;
  held = [];
  fill(rows, ...found.calls.map(row));
  older.hidden = !found.more;
  say();
  wanted.set("after", found.last);
  events = follow(`/console/live/events?${wanted}`, {
    onOpen: () => { say(); loadFiguresSoon(); },
    onMessage: (data) => take(JSON.parse(data)),
    onLost: say,
    onAgain: load,
  });
}

function take(calls) {
  loadFiguresSoon();
  if (!paused) return show(calls);
  held = [...held, ...calls].slice(-MOST_ROWS);
  say();
}

async function loadOlder() {
  const wanted = query();
  wanted.set("before", rows.lastElementChild?.dataset.id ?? "");
  try {
    const found = await getJson(`/console/live/calls?${wanted}`);
    rows.append(...found.calls.map(row));
    older.hidden = !found.more;
  } catch (error) {
    say(error.message);
  }
}

let figuresDue = 0;
let figuresAt = 0;

/** New calls change the figures, which are read again a moment later, at most every few seconds. */
function loadFiguresSoon() {
  figuresDue ||= setTimeout(loadFigures, Math.max(1000, figuresAt + SPACING_MS - Date.now()));
}

async function loadFigures() {
  clearTimeout(figuresDue);
  figuresDue = 0;
  if (document.hidden) return;
  figuresAt = Date.now();
  const wanted = new URLSearchParams({ span });
  const server = new FormData(form).get("server");
  if (server) wanted.set("server", server);
  try {
    drawPlots(find("plots"), find("figures"), await getJson(`/console/live/figures?${wanted}`), span);
  } catch (error) {
    // Figures that were read before stay: the line above the calls says if the connection is lost.
    if (!document.querySelector(".plot")) fill(find("plots"), element("p", { class: "problem" }, `The figures cannot be read: ${error.message}`));
  }
}

let typing = 0;
form.addEventListener("submit", (submitted) => { submitted.preventDefault(); load(); });
form.addEventListener("input", (changed) => {
  clearTimeout(typing);
  typing = setTimeout(load, changed.target.name === "q" ? 300 : 0);
  if (changed.target.name === "server") loadFigures();
});
older.addEventListener("click", loadOlder);
pause.addEventListener("click", () => {
  paused = !paused;
  pause.classList.toggle("on", paused);
  pause.textContent = paused ? "Go on" : "Pause";
  if (!paused) show(held.splice(0));
  say();
});
for (const button of document.querySelectorAll(".spans button")) {
  button.addEventListener("click", () => {
    span = button.value;
    document.querySelectorAll(".spans button").forEach((one) => one.setAttribute("aria-pressed", one === button));
    loadFigures();
  });
}
document.addEventListener("visibilitychange", () => {
  loadFigures();
  if (paused) return;
  // A browser has few connections to a server: a tab that nobody sees needs none.
  if (document.hidden) events?.close();
  else load();
});
focusBySlash(form.elements.q);
setInterval(loadFigures, FIGURES_MS);
load();
loadFigures();
