// Review cards, one after the other, with the tools that an agent has. The keys are those of Anki.
import { openDialog } from "./dialog.js";
import { element, fill } from "./dom.js";
import { callTool } from "./mcp.js";

const GRADES = ["again", "hard", "good", "easy"];
const place = document.getElementById("study");
const { server, ...tools } = place.dataset;
const chosen = place.dataset.deck ? { deckId: place.dataset.deck } : {};

/** What is asked now: { card, intervals, remaining, key, since, isShown }. */
let asked = null;
/** The last change: what it was, the question then, and how to take it back. */
let last = null;
let isBusy = false;
let later = 0;

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
  const body = await call(tools.next, chosen);
  show(body.data, body.message);
}

/** Show a question, or that there is none. */
function show(data, message) {
  clearTimeout(later);
  if (!data?.card) {
    asked = null;
    fill(place, element("div", { class: "card done" }, element("p", {}, nothingIsDue(data, message)), undoButton()));
    return;
  }
  asked = { ...data, ...fresh(data.card), isShown: false };
  draw();
}

/** Why there is no question. The next card that is being learned is shown when its time has come. */
function nothingIsDue(data, message) {
  if (!data?.nextLearningAt) return message || "Nothing more is due today.";
  const when = new Date(data.nextLearningAt);
  later = setTimeout(() => attempt(start), Math.max(1000, when - Date.now() + 500));
  return `Nothing is due right now. The next card comes at ${when.toLocaleTimeString([], { timeStyle: "short" })}.`;
}

const fresh = (card) => ({ key: `${card.cardId}-${Date.now()}`, since: Date.now() });

function draw() {
  const { card, intervals, isShown } = asked;
  const answer = isShown
    ? [element("hr"), element("div", { class: "face back", dir: "auto" }, card.back),
       element("div", { class: "grades" }, GRADES.map((word, index) => gradeButton(word, index, intervals[word])))]
    : [element("button", { type: "button", class: "show", onclick: turn }, "Show the answer ", element("kbd", {}, "Space"))];
  fill(place,
    element("div", { class: "row apart note" }, element("span", {}, card.deck), left()),
    element("div", { class: "card question" }, element("div", { class: "face", dir: "auto" }, card.front), answer),
    element("div", { class: "row apart" }, element("div", { class: "row more" }, ACTIONS.map(actionButton)), undoButton()));
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
  return last && element("button", { type: "button", class: "small", onclick: () => attempt(takeBack) },
    `Undo “${last.word}” `, element("kbd", {}, "U"));
}

function turn() {
  asked.isShown = true;
  draw();
}

async function answerWith(word) {
  const question = asked;
  const body = await call(tools.grade, {
    ...chosen, cardId: question.card.cardId, grade: word, next: true, idempotencyKey: question.key,
    timeTakenMs: Math.min(Date.now() - question.since, 600_000),
  });
  const { reviewId, next, remaining } = body.data;
  last = { word, question: { ...question, isShown: true }, undo: () => call(tools.undo, { reviewId }) };
  show(next ? { ...next, remaining } : { remaining }, body.message);
}

async function takeBack() {
  const { question, undo } = last;
  await undo();
  last = null;
  clearTimeout(later);
  asked = { ...question, ...fresh(question.card) };
  draw();
}

// --- what else can be done with a card ---

const ACTIONS = [
  { key: "e", words: "Edit", needs: ["card", "edit"], work: edit },
  { key: "i", words: "Info", needs: ["card"], work: showInfo },
  { key: "-", words: "Bury", needs: ["bury"], title: "Hide it until tomorrow", work: () => putAside("bury") },
  { key: "@", words: "Suspend", needs: ["suspend"], title: "Do not ask it any more", work: () => putAside("suspend") },
].filter((one) => one.needs.every((name) => tools[name]));

function actionButton({ key, words, title, work }) {
  return element("button", { type: "button", class: "small", title, onclick: () => attempt(work) },
    `${words} `, element("kbd", {}, key.toUpperCase()));
}

/** Bury or suspend the card, and go on. */
async function putAside(word) {
  const question = asked;
  const cardIds = [question.card.cardId];
  await call(tools[word], { cardIds });
  last = { word, question, undo: () => call(tools[word], { cardIds, [word]: false }) };
  await start();
}

async function showInfo() {
  const { data } = await call(tools.card, { cardId: asked.card.cardId });
  const day = (text) => (text ? new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : null);
  const facts = {
    Deck: data.deck, Kind: data.kind, Tags: data.tags.join(", "), State: data.state, Due: day(data.due), "Last review": day(data.lastReview),
    "Remembered now": data.recall === null ? null : `${Math.round(data.recall * 100)} %`,
    "Stability": data.stability === null ? null : `${data.stability.toFixed(1)} days`, "Difficulty": data.difficulty?.toFixed(1),
    Reviews: data.reps, Lapses: data.lapses, Added: day(data.createdAt), Id: data.cardId,
  };
  const shown = Object.entries(facts).filter(([, text]) => text !== null && text !== undefined && text !== "");
  openDialog("This card", element("dl", { class: "facts" }, shown.map(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])), { onClose: draw });
}

async function edit() {
  const { data } = await call(tools.card, { cardId: asked.card.cardId });
  const fields = Object.entries(data.fields).map(([name, text], at) =>
    [name, element("textarea", { id: `edit-${at}`, rows: 3, dir: "auto", autofocus: at === 0, value: text })]);
  const form = fields.map(([name, field]) => [element("label", { for: field.id }, name), field]);
  async function save() {
    const changed = fields.filter(([name, field]) => field.value !== data.fields[name]).map(([name, field]) => [name, field.value]);
    if (!changed.length) return;
    await call(tools.edit, { noteId: data.noteId, fields: Object.fromEntries(changed) });
    const { data: now } = await call(tools.card, { cardId: data.cardId });
    asked.card = { ...asked.card, front: now.front, back: now.back };
  }
  openDialog("Edit the note", form, { save, yes: ["Save ", element("kbd", {}, "Ctrl Enter")], no: "Cancel", onClose: draw });
}

// --- keys ---

function actOn(event) {
  const key = event.key.toLowerCase();
  const isUndo = event.ctrlKey || event.metaKey ? key === "z" : key === "u";
  if (isUndo && last) return takeBack;
  if (event.ctrlKey || event.metaKey || event.altKey || !asked) return null;
  const grade = GRADES[Number(key) - 1];
  if (asked.isShown && grade) return () => answerWith(grade);
  const isOther = event.target.closest("button:not(.show), a, summary");
  if (isEnter(event) && !isOther) return asked.isShown ? () => answerWith("good") : turn;
  return ACTIONS.find((one) => one.key === key)?.work ?? null;
}

const isEnter = (event) => event.key === " " || event.key === "Enter";

document.addEventListener("keydown", (event) => {
  if (event.repeat && isEnter(event)) event.preventDefault(); // a key that is held down grades nothing
  if (event.repeat || event.target.closest("select, input, textarea, dialog")) return;
  const work = actOn(event);
  if (!work) return;
  event.preventDefault();
  attempt(work);
});

attempt(start);
