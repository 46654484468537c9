// Confirmations that wait. A card stays where it is when its call waits no more, so that nobody clicks the wrong one.
import { copyable, element, fill } from "./dom.js";
import { follow } from "./events.js";
import { errorWords, getJson, post } from "./requests.js";

const state = document.getElementById("state");
const list = document.getElementById("waiting");
const cards = new Map();

async function refresh() {
  let waiting;
  try {
    ({ waiting } = await getJson("/console/approvals/list"));
  } catch (error) {
    state.textContent = error.message;
    return;
  }
  const ids = new Set(waiting.map((one) => one.id));
  for (const [id, card] of cards) if (!ids.has(id)) card.isGone ||= card.end("This call does not wait any more.");
  for (const one of waiting) if (!cards.has(one.id) || cards.get(one.id).isGone) add(one);
  const open = waiting.length;
  state.textContent = open === 0 ? "Nothing waits for you." : open === 1 ? "1 call waits for you." : `${open} calls wait for you.`;
  showBadge(open);
  document.title = document.title.replace(/^(\(\d+\) )?/, open ? `(${open}) ` : "");
}

/** The number in the navigation, which other pages have from the server. */
function showBadge(number) {
  const badge = element("span", { class: "badge" }, number, element("span", { class: "unseen" }, " waiting"));
  fill(document.querySelector('nav a[href="/console/approvals"]'), "Approvals", number ? [" ", badge] : null);
}

function add(one) {
  const note = element("p", { class: "note", role: "status" });
  const buttons = ["Confirm", "Decline"].map((words) => element("button", {
    type: "button",
    class: words === "Confirm" ? null : "quiet",
    "aria-label": `${words}: ${one.tool}`,
    onclick: () => answer(words === "Confirm"),
  }, words));
  const facts = { Server: one.server, Caller: one.caller, Agent: one.agent, Target: one.target };
  const card = element("article", { class: "card approval", "aria-label": one.tool },
    element("h2", {}, element("code", {}, one.tool)),
    element("p", { dir: "auto" }, one.question),
    element("dl", { class: "facts" }, Object.entries(facts).filter(([, text]) => text)
      .map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])),
    element("h3", {}, "Arguments"),
    copyable(JSON.stringify(one.arguments, null, 2)),
    one.is_held ? null : element("p", { class: "note" },
      "The client has this question too. After your answer here, it is used for the next call with these arguments."),
    element("div", { class: "row" }, buttons, note));
  const timer = setInterval(showTime, 1000);
  let ended = false;

  function showTime() {
    const left = Math.ceil(one.expires - Date.now() / 1000);
    if (left <= 0) end("Nobody answered in time.");
    else note.textContent = `Waits for another ${left >= 120 ? Math.floor(left / 60) + " minutes" : left + " seconds"}.`;
  }

  /** Returns whether it was open until now. */
  function end(words, kind = "") {
    if (ended) return false;
    ended = true;
    clearInterval(timer);
    buttons.forEach((button) => { button.disabled = true; });
    note.textContent = words;
    note.className = kind || "note";
    card.classList.add("ended");
    return true;
  }

  async function answer(accepted) {
    buttons.forEach((button) => { button.disabled = true; });
    const path = ["/console/approvals", one.server, one.id].map((part, at) => (at ? encodeURIComponent(part) : part)).join("/");
    let words;
    try {
      const response = await post(path, { accepted });
      words = response.ok ? null : await errorWords(response);
    } catch (error) {
      buttons.forEach((button) => { button.disabled = false; });
      note.textContent = `The answer was not sent: ${error.message}`;
      return;
    }
    if (words === null) {
      end(accepted ? "You have confirmed this call." : "You have declined this call.", accepted ? "good" : "warn");
      // What the call did is in the record. A call that the client sends again has other ids.
      if (one.is_held) note.after(element("a", { href: `/console/live?q=${encodeURIComponent(one.trace_id)}` }, "See the call"));
    }
    else end(words, "problem");
    refresh();
  }

  showTime();
  cards.get(one.id)?.part.remove(); // its process was silent for a while
  cards.set(one.id, { end, part: card, isGone: false });
  list.append(card);
}

let events = null;

function listen() {
  events?.close();
  events = follow("/console/approvals/events", {
    onMessage: refresh,
    onOpen: refresh,
    onLost: (words) => { state.textContent = words; },
    onAgain: listen,
  });
}

listen();
refresh();
