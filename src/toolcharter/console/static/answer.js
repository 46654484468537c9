// The answer of a tool: in words, as the agent reads it, and as JSON.
import { copyable, element } from "./dom.js";

const META = "dev.toolcharter/";
const PICTURES = /^image\/(png|jpeg|gif|webp)$/;

/** What an answer says, whatever its wire format. */
export function readAnswer(result) {
  const texts = (result.content ?? []).filter((one) => one.type === "text").map((one) => one.text);
  let body;
  try { body = JSON.parse(texts[0]); } catch { body = undefined; }
  const fields = body && typeof body === "object" && !Array.isArray(body) ? body : {};
  const meta = result._meta ?? {};
  const enveloped = "agentHints" in fields || "success" in fields;
  return {
    failed: result.isError === true,
    text: texts.join("\n"),
    value: "agentHints" in fields ? fields.data : "success" in fields ? fields.value : body ?? result.structuredContent,
    error: errorWords(fields.error, fields.error_type ?? meta[META + "error-type"]),
    message: (enveloped && fields.message) || meta[META + "message"],
    instruction: (enveloped && fields.instruction) || meta[META + "instruction"],
    errorId: fields.error_id ?? fields.error?.errorId,
    hints: Array.isArray(fields.agentHints?.suggestedNextActions) ? fields.agentHints.suggestedNextActions : [],
    warnings: Array.isArray(fields.agentHints?.warnings) ? fields.agentHints.warnings : [],
    reasoning: fields.agentHints?.reasoning,
  };
}

function errorWords(error, type) {
  if (!error) return "";
  if (typeof error === "object") return `${error.type ?? ""}: ${error.message ?? ""}`;
  return type ? `${type}: ${error}` : String(error);
}

/** The answer as elements. `followHint(action, data)` is called for a hint that the person follows. */
export function showAnswer(result, args, { milliseconds, followHint }) {
  const answer = readAnswer(result);
  const tokens = Math.ceil(answer.text.length / 4);
  const facts = `${milliseconds} ms, about ${tokens.toLocaleString("en")} tokens`;
  return element("div", {},
    element("p", {}, element("span", { class: answer.failed ? "tag bad" : "tag good" }, answer.failed ? "failed" : "ok"), " ", element("small", {}, facts)),
    answer.failed && answer.error ? element("p", { class: "problem" }, answer.error) : null,
    line("For the person", answer.message),
    line("For the agent", answer.instruction),
    answer.errorId ? line("Error id", element("a", { href: `/console/live?q=${encodeURIComponent(answer.errorId)}` }, answer.errorId)) : null,
    answer.warnings.map((one) => line("Warning", one?.message ?? JSON.stringify(one))),
    hintButtons(answer, followHint),
    pictures(result),
    tabs([
      ["Value", answer.value === undefined || (answer.failed && answer.value === null) ? null : () => JSON.stringify(answer.value, null, 2)],
      ["As the agent reads it", () => answer.text],
      ["JSON", () => JSON.stringify(result, null, 2)],
      ["Arguments", () => JSON.stringify(args, null, 2)],
    ]));
}

/** The messages of a prompt, or the contents of a resource. */
export function showContent(result) {
  const parts = (result.messages ?? []).map((one) => [`${one.role}:\n`, one.content]).concat((result.contents ?? []).map((one) => ["", one]));
  const words = parts.map(([before, one]) => before + (one.text ?? one.resource?.text ?? `(${one.mimeType ?? one.type ?? "data"})`));
  return tabs([["As the agent reads it", () => words.join("\n\n")], ["JSON", () => JSON.stringify(result, null, 2)]]);
}

function line(name, text) {
  return text ? element("p", { class: "said" }, element("b", {}, `${name}: `), text) : null;
}

function hintButtons(answer, followHint) {
  if (!answer.hints.length) return null;
  const buttons = answer.hints.filter((one) => typeof one?.action === "string").map((one) => {
    const needs = (one.needs ?? []).map((need) => need.name).join(", ");
    return element("li", {},
      element("button", { type: "button", class: "small", onclick: () => followHint(one.action, one.data ?? {}) }, one.action),
      " ", one.description ?? (one.data ? JSON.stringify(one.data) : ""),
      needs ? element("small", {}, ` You add: ${needs}.`) : null);
  });
  return element("div", { class: "hints" }, element("b", {}, "Next"), element("ul", {}, buttons),
    answer.reasoning ? element("p", { class: "note" }, answer.reasoning) : null);
}

function pictures(result) {
  return (result.content ?? []).filter((one) => one.type === "image" && PICTURES.test(one.mimeType))
    .map((one) => element("img", { src: `data:${one.mimeType};base64,${one.data}`, alt: "A picture in the answer" }));
}

/** Texts under tabs. Each is a name and a function that makes the text, which is called when it is looked at. */
export function tabs(parts) {
  const shown = parts.filter(([, text]) => text);
  const id = `tabs-${Math.random().toString(36).slice(2)}`;
  const panels = shown.map(([name], at) => element("div", { id: `${id}-${at}`, role: "tabpanel", "aria-label": name }));
  const buttons = shown.map(([name], at) => element("button", {
    type: "button", role: "tab", class: "tab", "aria-controls": `${id}-${at}`, onclick: () => select(at), onkeydown: move,
  }, name));
  function select(at) {
    buttons.forEach((one, number) => {
      one.setAttribute("aria-selected", String(number === at));
      one.tabIndex = number === at ? 0 : -1;
    });
    panels.forEach((one, number) => { one.hidden = number !== at; });
    if (!panels[at].firstChild) panels[at].append(copyable(shown[at][1]())); // an answer may be long
  }
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (buttons.indexOf(event.target) + step + buttons.length) % buttons.length;
    select(at);
    buttons[at].focus();
  }
  select(0);
  return element("div", { class: "tabs" }, element("div", { role: "tablist", "aria-label": "The answer" }, buttons), panels);
}
