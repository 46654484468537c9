// Plots as SVG: lines and bars over time, and who or what cost most tokens.
import { element, fill, visible } from "./dom.js";

const HEIGHT = 150;
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 8, 8, 22];
const SVG = "http://www.w3.org/2000/svg";
let kind = "tool";
let drawn = null;

function svg(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((one) => (one instanceof Node ? one : visible(one))));
  return made;
}

const count = (value) => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
const percent = (value) => (value === null ? "–" : `${count(value)} %`);
const duration = (value) => (value === null ? "–" : value >= 1000 ? `${count(value / 1000)} s` : `${value < 1 ? Number(value.toPrecision(2)) : count(value)} ms`);
const share = (part, whole) => (whole ? (part / whole) * 100 : null);
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });

/** A number at or above `value` that is easy to read: 1, 2 or 5 times a power of ten. */
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value);
}

function linear(values, most = null) {
  const top = most ?? ceiling(Math.max(0, ...values));
  return { ticks: [0, top / 2, top], place: (value) => value / top };
}

function logarithmic(values) {
  const seen = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...seen, 1)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...seen, 1))));
  const every = Math.ceil((high - low) / 4);
  const ticks = [];
  for (let power = low; power <= high; power += every) ticks.push(10 ** power);
  return { ticks, place: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low) };
}

/** A plot over time. `lines` are { name, values, className }; null is a gap. */
function plot({ title, now, lines, scale, write, bars = false }, slots, width) {
  const inner = width - LEFT - RIGHT;
  const height = HEIGHT - TOP - BOTTOM;
  const x = (at) => LEFT + ((at + 0.5) / slots.length) * inner;
  const y = (value) => TOP + (1 - scale.place(value)) * height;
  const parts = scale.ticks.flatMap((tick) => [
    svg("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "grid-line" }),
    svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, write(tick)),
  ]);
  const labels = width < 420 ? 2 : 4;
  for (let at = 0; at <= labels; at += 1) {
    const slot = Math.min(slots.length - 1, Math.round((at / labels) * (slots.length - 1)));
    const anchor = at === 0 ? "start" : at === labels ? "end" : "middle";
    parts.push(svg("text", { x: at === 0 ? LEFT : at === labels ? width - RIGHT : x(slot), y: HEIGHT - 5, "text-anchor": anchor }, clock(slots[slot].time)));
  }
  for (const { values, className } of lines) {
    if (bars) {
      const wide = Math.max(1, inner / slots.length - 1.5);
      values.forEach((value, at) => {
        if (value) parts.push(svg("rect", { x: x(at) - wide / 2, width: wide, y: y(value), height: Math.max(1, TOP + height - y(value)), class: className }));
      });
    } else {
      parts.push(svg("path", { d: path(values, x, y), class: className, fill: "none" }));
      values.forEach((value, at) => {
        const alone = value !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null;
        if (alone) parts.push(svg("circle", { cx: x(at), cy: y(value), r: 2, class: `dot ${className}` }));
      });
    }
  }
  const legend = lines.length > 1 ? element("span", { class: "legend" }, lines.map(({ name, className }) => [
    svg("svg", { width: 18, height: 8, "aria-hidden": "true" }, svg("line", { x1: 0, x2: 18, y1: 4, y2: 4, class: className })), ` ${name} `])) : null;
  return element("figure", { class: "plot card" },
    element("figcaption", {}, element("span", {}, title), legend, element("strong", {}, now)),
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": `${title}: ${now}` }, ...parts));
}

function path(values, x, y) {
  let begun = false;
  return values.map((value, at) => {
    if (value === null) { begun = false; return ""; }
    const step = `${begun ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    begun = true;
    return step;
  }).join("");
}

function plots({ slots, step, total }, width) {
  const pick = (read) => slots.map(read);
  const calls = pick((slot) => slot.calls / step);
  const errors = pick((slot) => share(slot.errors, slot.calls));
  const cached = pick((slot) => share(slot.cached, slot.calls));
  const times = ["p50", "p95", "p99"].map((name, at) => ({ name, values: pick((slot) => slot[name]), className: `line line-${at}` }));
  const present = (values) => values.filter((value) => value !== null);
  return [
    { title: "Calls a minute", now: `${count(total.calls)} calls`, lines: [{ values: calls, className: "bar" }], bars: true, scale: linear(calls), write: count },
    { title: "Error rate", now: percent(share(total.errors, total.calls)), lines: [{ values: errors, className: "line line-bad" }], scale: linear(present(errors)), write: percent },
    { title: "Duration", now: `p95 ${duration(total.p95)}`, lines: times, scale: logarithmic(present(times.flatMap((one) => one.values))), write: duration },
    { title: "From the cache", now: percent(share(total.cached, total.calls)), lines: [{ values: cached, className: "line line-0" }], scale: linear(present(cached), 100), write: percent },
  ].map((one) => plot(one, slots, width));
}

function tokens(figures, again) {
  const rows = figures[kind];
  const most = Math.max(1, ...rows.map((one) => one.tokens));
  const choice = element("select", { "aria-label": "Tokens by", onchange: (changed) => { kind = changed.target.value; again(); } },
    ["tool", "caller", "agent"].map((one) => element("option", { value: one, selected: one === kind }, `by ${one}`)));
  const bar = (one) => svg("svg", { viewBox: "0 0 100 1", preserveAspectRatio: "none", class: "share", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 0, height: 1, width: Math.max(0.5, (one.tokens / most) * 100), class: "bar" }));
  const body = rows.map((one) => element("tr", {}, element("th", { scope: "row" }, one.name, bar(one)),
    element("td", { class: "number" }, count(one.tokens)), element("td", { class: "number" }, count(one.calls))));
  return element("figure", { class: "plot card tokens" },
    element("figcaption", {}, "Tokens of answers", choice),
    rows.length ? element("table", {}, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, kind),
      element("th", { scope: "col", class: "number" }, "Tokens"), element("th", { scope: "col", class: "number" }, "Calls"))), element("tbody", {}, body))
      : element("p", { class: "note" }, "No calls in this time."));
}

function table({ slots, step }) {
  const heads = ["Time", `Calls in ${step === 1 ? "the minute" : `${step} minutes`}`, "Errors", "p50", "p95", "p99", "From the cache"];
  const body = slots.filter((slot) => slot.calls).reverse().map((slot) => element("tr", {}, element("th", { scope: "row" }, clock(slot.time)),
    [count(slot.calls), count(slot.errors), ...["p50", "p95", "p99"].map((name) => duration(slot[name])), count(slot.cached)]
      .map((text) => element("td", { class: "number" }, text))));
  return element("table", {}, element("thead", {}, element("tr", {}, heads.map((text, at) => element("th", { scope: "col", class: at ? "number" : null }, text)))), element("tbody", {}, body));
}

/** Draw all plots, and write the same as a table if it is open. */
export function drawPlots(box, tableBox, figures) {
  const again = () => drawPlots(box, tableBox, figures);
  drawn = again;
  const focused = document.activeElement?.matches?.(".tokens select");
  const columns = Math.max(1, Math.floor((box.clientWidth + 16) / (340 + 16)));
  const narrow = matchMedia("(max-width: 46rem)").matches; // a strip to scroll through: see live.css
  const width = narrow ? 246 : Math.floor((box.clientWidth - 16 * (columns - 1)) / columns) - 34;
  fill(box, ...plots(figures, Math.max(200, width)), tokens(figures, again));
  if (focused) box.querySelector(".tokens select").focus();
  fill(tableBox, table(figures));
}

let resizing = 0;
addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => drawn?.(), 150); });
