// Review cards, one after the other, with the tools that an agent has.
import { element, fill } from "./dom.js";
import { callTool } from "./mcp.js";

const GRADES = ["again", "hard", "good", "easy"];
const place = document.getElementById("study");
const { server, next, grade, undo } = place.dataset;
const chosen = place.dataset.deck ? { deckId: place.dataset.deck } : {};

/** What is asked now: { card, intervals, remaining, key, since, isShown }. */
let asked = null;
/** The last review and the question that it answered, to go back to. */
let last = null;
let isBusy = false;

async function call(tool, args) {
  const result = await callTool(server, tool, args);
  const body = JSON.parse(result.content[0].text);
  if (result.isError) throw new Error(body.error?.message ?? "The server refused it.");
  return body;
}

/** Do one thing at a time, and show what went wrong. */
async function attempt(work) {
  if (isBusy) return;
  isBusy = true;
  try {
    await work();
  } catch (error) {
    fill(place, element("p", { class: "problem", role: "alert" }, error.message),
      element("button", { type: "button", onclick: () => attempt(start) }, "Try again"));
  } finally {
    isBusy = false;
  }
}

async function start() {
  const body = await call(next, chosen);
  show(body.data, body.message);
}

/** Show a question, or that there is none. */
function show(data, message) {
  if (!data?.card) {
    asked = null;
    const words = data?.nextLearningAt
      ? `Nothing is due right now. The next card comes at ${new Date(data.nextLearningAt).toLocaleTimeString([], { timeStyle: "short" })}.`
      : message || "Nothing more is due today.";
    fill(place, element("div", { class: "card done" }, element("p", {}, words), undoButton()));
    return;
  }
  asked = { ...data, key: `${data.card.cardId}-${Date.now()}`, since: Date.now(), isShown: false };
  draw();
}

function draw() {
  const { card, intervals, isShown } = asked;
  const answer = isShown
    ? [element("hr"), element("div", { class: "face back" }, card.back),
       element("div", { class: "grades" }, GRADES.map((word, index) => gradeButton(word, index, intervals[word])))]
    : [element("button", { type: "button", class: "show", onclick: turn }, "Show the answer ", element("kbd", {}, "Space"))];
  fill(place,
    element("div", { class: "row apart note" }, element("span", {}, card.deck), left()),
    element("div", { class: "card question" }, element("div", { class: "face" }, card.front), answer),
    undoButton());
  place.querySelector(isShown ? ".grades button.good" : ".show")?.focus();
}

function gradeButton(word, index, interval) {
  return element("button", { type: "button", class: word, onclick: () => attempt(() => answerWith(word)) },
    element("span", {}, word[0].toUpperCase() + word.slice(1)), element("small", {}, interval),
    element("kbd", {}, String(index + 1)));
}

function left() {
  const { new: fresh = 0, learning = 0, due = 0 } = asked.remaining ?? {};
  return element("span", { class: "left" }, `Left: ${due} due, ${learning} learning, ${fresh} new`);
}

function undoButton() {
  return last && element("p", {}, element("button", { type: "button", class: "quiet", onclick: () => attempt(takeBack) },
    `Undo “${last.word}” `, element("kbd", {}, "U")));
}

function turn() {
  asked.isShown = true;
  draw();
}

async function answerWith(word) {
  const question = asked;
  const body = await call(grade, {
    ...chosen, cardId: question.card.cardId, grade: word, next: true, idempotencyKey: question.key,
    timeTakenMs: Math.min(Date.now() - question.since, 600_000),
  });
  last = { reviewId: body.data.reviewId, question, word };
  show(body.data.next ? { ...body.data.next, remaining: body.data.remaining } : { remaining: body.data.remaining }, body.message);
}

async function takeBack() {
  const { reviewId, question } = last;
  await call(undo, { reviewId });
  last = null;
  asked = { ...question, key: `${question.card.cardId}-${Date.now()}`, since: Date.now(), isShown: true };
  draw();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
  if (event.key.toLowerCase() === "u" && last) attempt(takeBack);
  else if (asked?.isShown && GRADES[Number(event.key) - 1]) attempt(() => answerWith(GRADES[Number(event.key) - 1]));
  else if (asked && !asked.isShown && (event.key === " " || event.key === "Enter")) turn();
  else return;
  event.preventDefault();
});

attempt(start);
