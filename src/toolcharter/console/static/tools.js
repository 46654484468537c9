// Searches while the reader types. Without this script, the form does the same with a click.
import { element, fill, focusBySlash } from "./dom.js";
import { getJson } from "./requests.js";

const form = document.getElementById("search");
const entries = document.getElementById("entries");
const pages = document.getElementById("pages");
const count = document.getElementById("count");
const several = document.querySelectorAll("#server option").length > 2;
let running = null;
let timer = 0;

form.querySelector("button").hidden = true;
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, 90);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
focusBySlash(form.elements.q);

async function search() {
  const kept = [...new FormData(form)].filter(([, value]) => value);
  const query = new URLSearchParams(kept).toString();
  const path = form.getAttribute("action") + (query ? "?" + query : "");
  running?.abort();
  running = new AbortController();
  try {
    const found = await getJson(path, running.signal);
    fill(entries, found.entries.map(row));
    count.textContent = found.total ? `${found.total.toLocaleString("en")} found` : "Nothing found. Try fewer or other words.";
    const next = new URLSearchParams([...kept, ["page", "2"]]);
    fill(pages, found.rest ? element("a", { href: `?${next}`, rel: "next", class: "button quiet" }, "Next") : null);
    pages.hidden = !found.rest;
    history.replaceState(null, "", path);
  } catch (error) {
    if (error.name !== "AbortError") count.textContent = `Could not search: ${error.message}`;
  }
}

function row(entry) {
  const marks = entry.kind === "tool" ? entry.marks : [[entry.kind, ""]];
  return element("li", {},
    element("a", { href: entry.path }, element("code", {}, entry.name)),
    element("span", { class: "marks" }, marks.map(([text, kind]) => element("span", { class: `tag ${kind}`.trim() }, text))),
    element("span", { class: "server" }, several ? entry.server : ""),
    element("span", { class: "tokens" }, entry.tokens === null ? "" : `${entry.tokens} tokens`),
    element("span", { class: "summary" }, entry.summary));
}
