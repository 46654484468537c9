// Try it: a form from a schema, a call, and its answer. For tools, prompts and resources.
import { showAnswer, showContent } from "./answer.js";
import { askPerson } from "./ask.js";
import { curl, toolcharterCall } from "./commands.js";
import { copyable, element, fill } from "./dom.js";
import { keepDraft, takeDraft } from "./drafts.js";
import { argumentHeaders, callTool, request } from "./mcp.js";
import { FieldError, objectFields } from "./schema_form.js";

const section = document.getElementById("try");
const { server, method, name, url, token } = section.dataset;
const schema = JSON.parse(section.dataset.schema);
const examples = JSON.parse(section.dataset.examples);
const fields = objectFields(schema);
const isDestructive = section.hasAttribute("data-destructive");
const hasFields = Object.keys(schema.properties ?? {}).length > 0;
const raw = element("textarea", { id: "raw", class: "code", rows: 10, spellcheck: "false" });
const rawPart = element("div", { hidden: true }, element("label", { for: "raw" }, "Arguments as JSON"), raw);
const problem = element("p", { class: "problem", role: "alert" });
const callButton = element("button", { type: "submit", class: isDestructive ? "danger" : null }, { "tools/call": "Call", "prompts/get": "Get", "resources/read": "Read" }[method]);
const cancelButton = element("button", { type: "button", class: "quiet", hidden: true }, "Cancel");
const modeButton = element("button", { type: "button", class: "small", hidden: !hasFields }, "Write JSON");
const progress = element("progress", { hidden: true, "aria-label": "Progress" });
const progressWords = element("span", { class: "note", role: "status" });
const answerPart = element("div", { class: "answer", "aria-live": "polite" });
const commandPart = element("div");
const form = element("form", { novalidate: true },
  examplesRow(), fields.element, hasFields ? null : element("p", { class: "note" }, "It takes no arguments."), rawPart, problem,
  element("div", { class: "row" }, callButton, cancelButton, modeButton, progress, progressWords));
const same = element("details", {}, element("summary", {}, "The same call in a terminal"), commandPart);
let running = null;

document.getElementById("form").append(form, answerPart, ...(method === "tools/call" ? [same] : []));
same.addEventListener("toggle", showCommands);
form.addEventListener("input", showCommands);
modeButton.addEventListener("click", switchMode);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  call();
});
cancelButton.addEventListener("click", () => running?.abort());
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) call();
});
window.addEventListener("hashchange", fillFromAddress);
window.addEventListener("signin", () => keepDraft(read(), schema));
fillFromAddress();
fillFromDraft();

function examplesRow() {
  if (!examples.length) return null;
  return element("div", { class: "row examples" }, element("span", { class: "note" }, "Fill in:"),
    examples.map((one) => element("button", { type: "button", class: "small", onclick: () => write(one.params) }, one.description)));
}

// --- the arguments ---

/** `#arguments=JSON` fills in the form: hints and recorded calls lead here with it. */
function fillFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("arguments");
  if (given === null) return;
  try {
    write(JSON.parse(given));
  } catch {
    problem.textContent = "The arguments in the address are not valid JSON.";
  }
}

/** After the person had to sign in again, what they had typed. */
function fillFromDraft() {
  const kept = takeDraft();
  if (kept === null) return;
  write(kept);
  progressWords.textContent = "Filled in as before you signed in, without secrets.";
}

function read() {
  if (rawPart.hidden) return fields.read();
  try {
    return JSON.parse(raw.value || "{}");
  } catch (error) {
    throw new FieldError(`The arguments are not valid JSON: ${error.message}`, raw);
  }
}

function write(args) {
  problem.textContent = "";
  fields.write(args);
  raw.value = JSON.stringify(args, null, 2);
  // What the form cannot show is shown as JSON: nothing is lost.
  if (rawPart.hidden && hasFields && unlike(args)) showRaw(true);
  showCommands();
}

function unlike(args) {
  try {
    return canonical(fields.read()) !== canonical(args);
  } catch {
    return false; // a value is missing: the person adds it
  }
}

function canonical(value) {
  return JSON.stringify(value, (_, one) =>
    one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort()) : one);
}

function showRaw(shown) {
  rawPart.hidden = !shown;
  fields.element.hidden = shown;
  modeButton.textContent = shown ? "Use the form" : "Write JSON";
}

function switchMode() {
  problem.textContent = "";
  try {
    const args = read();
    if (rawPart.hidden) raw.value = JSON.stringify(args, null, 2);
    else fields.write(args);
  } catch (error) {
    if (!rawPart.hidden) return report(error);
    raw.value ||= "{}";
  }
  showRaw(rawPart.hidden);
}

// --- the call ---

async function call() {
  if (running) return;
  problem.textContent = "";
  let args;
  try {
    args = read();
  } catch (error) {
    return report(error);
  }
  running = new AbortController();
  setBusy(true);
  const begun = performance.now();
  try {
    const result = await send(args, { ask, onProgress: showProgress, signal: running.signal, schema });
    const milliseconds = Math.round(performance.now() - begun);
    const shown = method === "tools/call" ? showAnswer(result, args, { milliseconds, followHint }) : showContent(result);
    fill(answerPart, element("h3", {}, "Answer"), shown);
  } catch (error) {
    const words = error.name === "AbortError" ? "The call was cancelled." : error.message;
    fill(answerPart, element("h3", {}, "Answer"), element("p", { class: "problem" }, words),
      error.data ? copyable(JSON.stringify(error.data, null, 2)) : null);
  }
  running = null;
  setBusy(false);
}

const ask = (question, wanted) => askPerson(question, wanted, isDestructive);

function send(args, options) {
  if (method === "tools/call") return callTool(server, name, args, options);
  return request(server, method, method === "prompts/get" ? { name, arguments: args } : args, options);
}

function setBusy(busy) {
  callButton.setAttribute("aria-disabled", String(busy)); // a disabled button would lose the focus
  cancelButton.hidden = progress.hidden = !busy;
  progress.removeAttribute("value");
  progressWords.textContent = "";
}

function showProgress(done, total, words) {
  if (total) {
    progress.max = total;
    progress.value = done;
  }
  fill(progressWords, words ?? (total ? `${done} of ${total}` : String(done)));
}

function report(error) {
  fill(problem, error.message);
  error.input?.focus();
}

function followHint(action, data) {
  const path = `/console/tools/${encodeURIComponent(server)}/${encodeURIComponent(action)}`;
  location.assign(`${path}#arguments=${encodeURIComponent(JSON.stringify(data))}`);
  if (action === name) section.scrollIntoView();
}

// --- commands ---

function showCommands() {
  if (!same.open) return;
  let args;
  try { args = read(); } catch { args = {}; }
  fill(commandPart, copyable(toolcharterCall(url, token, name, args)), copyable(curl(url, token, name, args, argumentHeaders(schema, args))));
}
