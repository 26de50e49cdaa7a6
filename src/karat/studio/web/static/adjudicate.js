// Adjudication: disputes, the largest first. A decision is an answer to the disputed part.

import { button, byId, make, showStatus } from "./dom.js";
import { draftOf, drop, keep } from "./drafts.js";
import { listen, toggleKeys } from "./keys.js";
import { get, post } from "./server.js";
import { inWords, statement } from "./statements.js";
import { TASKS, accompanyingText, answerWithComment, outputTexts, sourceText } from "./tasks.js";
import { newUuid } from "./uuid.js";

const CONFLICT = 409; // another adjudicator has decided
const KEYS = [["A, B, … (with Shift)", "take what an assessor said"], ["Enter", "decide, go to the next"], ["k", "skip (a draft is kept)"], ["b", "previous"], ["u", "undo the decision"], ["W (with Shift)", "show the names, which is recorded"], ["c", "comment (Escape leaves it)"], ["?", "these keys"]];

let list = []; // disputes of this visit, in order
let at = 0;
let item = null;
let task = null;
let comment = null;
let busy = false;
let empty = {}; // the answer of an untouched form
let unsaved = null; // a decision without acknowledgement, which keeps its uuid

const subject = ({ task, about }) => TASKS[task].subject(about);

async function loadList() {
  const { status, body } = await get("/api/disputes");
  if (status !== 200) return showStatus(body.error, true);
  list = body.disputes;
  at = 0;
  byId("list").replaceChildren(...list.map((dispute, k) => make("li", {}, button(`${dispute.segment}: ${subject(dispute)}, ${dispute.amount.toFixed(2)}`, "", () => goTo(k)))));
  await open();
}

async function open() {
  unsaved = null;
  byId("previous").disabled = at === 0;
  byId("judge").classList.toggle("finished", at >= list.length);
  if (at >= list.length) {
    item = task = null;
    for (const part of document.querySelectorAll(".moves, #ranked")) part.hidden = !list.length;
    const sentence = list.length ? "These disputes are done." : "There are no open disputes.";
    byId("judge").replaceChildren(make("p", { class: "answer" }, sentence), make("p", {}, make("a", { href: "/adjudicate" }, "Look for more")));
    return;
  }
  const { judgement, about } = list[at];
  const { status, body } = await get(`/api/disputes/${judgement}?about=${encodeURIComponent(about)}`);
  if (status !== 200) return showStatus(body.error, true);
  item = body;
  draw();
  byId("judge").focus();
  scrollTo(0, 0);
}

function draw() {
  const { texts, sections } = outputTexts(item);
  const draft = draftOf(keyOf(item));
  const value = draft ?? item.value;
  comment = make("textarea", { rows: "2", maxlength: "2000" });
  comment.value = value?.comment ?? "";
  task = new TASKS[item.task](item, value, () => (unsaved = null), texts);
  if (!value) empty = answer();
  const title = `Dispute ${at + 1} of ${list.length}: ${subject(item)}, disagreement ${item.amount.toFixed(2)}`;
  byId("judge").replaceChildren(
    make("h1", { class: "place" }, title, item.value ? `. Decided: ${inWords(item, item.value)}` : "", draft ? ". This is your draft" : ""),
    sourceText(item), accompanyingText("Context", item.context),
    ...item.references.map((text) => accompanyingText("Reference", text)),
    make("div", { class: sections.length > 1 ? "sides" : "" }, ...sections),
    make("div", { class: "statements" }, ...item.said.map((vote) => statement(item, vote, adopt))),
    make("h2", { class: "decision" }, "Decision"),
    task.element,
    make("p", { class: "note", id: "told", role: "alert" }),
    make("label", { class: "comment" }, "Comment ", make("kbd", {}, "c"), comment),
  );
}

function adopt(vote) {
  unsaved = null;
  task.show(vote.value);
}

const answer = () => answerWithComment(task, comment);

const keyOf = ({ task, item, output, about }) => JSON.stringify([task, item, output, about]);

// Keep the answer and the comment of a dispute as a draft.
function keepDraft() {
  if (!task) return;
  const before = draftOf(keyOf(item)) ?? item.value ?? empty;
  if (JSON.stringify(answer()) !== JSON.stringify(before)) keep(keyOf(item), answer());
}

const target = () => ({ task: item.task, item: item.item, output: item.output, about: item.about });

// One write at a time; the page waits until it is saved.
async function save(answer) {
  const sent = JSON.stringify([target(), answer]);
  if (unsaved?.sent !== sent) unsaved = { sent, uuid: newUuid() };
  const content = { uuid: unsaved.uuid, ...target(), answer, supersedes: item.newest };
  const { status, body } = await post("/api/adjudications", content);
  if (status === CONFLICT) await overtaken();
  else if (status !== 200) showStatus(`Not saved: ${body.error}`, true);
  if (status !== 200) return false;
  drop(keyOf(item));
  item.newest = unsaved.uuid;
  unsaved = null;
  return true;
}

// Another adjudicator has decided: show that decision, and keep the answer as a draft.
async function overtaken() {
  keepDraft();
  await open();
  showStatus("Not saved: somebody else decided this meanwhile. Decide again, or skip it.", true);
}

async function decide() {
  if (!task) return;
  const lacking = task.missing();
  byId("told").textContent = lacking;
  if (lacking) return;
  if (!(await save(answer()))) return;
  showStatus("Saved");
  at += 1;
  await open();
}

// Undo the current decision; without one, go back to the previous dispute and undo that.
async function undo() {
  if (!item?.newest || item.value === null) {
    if (at === 0) return showStatus("There is no decision to undo.");
    at -= 1;
    await open();
  }
  if (!item?.newest || item.value === null) return;
  if (!(await save(null))) return;
  item.value = null;
  draw();
  showStatus("Undone");
}

async function names() {
  if (!item) return;
  const { status, body } = await post("/api/names", target());
  if (status !== 200) return showStatus(body.error, true);
  for (const [letter, name] of Object.entries(body.names)) {
    const place = document.querySelector(`[data-letter="${letter}"]`);
    if (place) place.textContent = `${letter}: ${name}`;
  }
  showStatus("That you asked for the names is recorded.");
}

async function moving(move) {
  if (busy) return;
  busy = true;
  try {
    await move();
  } finally {
    busy = false;
  }
}

function goTo(place) {
  return moving(async () => {
    keepDraft();
    at = Math.max(0, Math.min(list.length, place));
    await open();
  });
}

const help = () => toggleKeys([...(task?.keys ?? []), ...KEYS]);

const ACTIONS = { Enter: () => moving(decide), k: () => goTo(at + 1), b: () => goTo(at - 1), u: () => moving(undo), W: () => moving(names), "?": help, c: () => comment?.focus() };

listen((key, event) => {
  if (busy) return false;
  const vote = /^[A-VX-Z]$/.test(key) && item?.said.find((candidate) => candidate.letter === key);
  if (vote) adopt(vote);
  else if (task?.handleKey(key, event)) return true;
  else ACTIONS[key]?.();
  return Boolean(vote) || key in ACTIONS;
});
for (const [id, key] of [["next", "Enter"], ["skip", "k"], ["previous", "b"], ["undo", "u"], ["names", "W"], ["help", "?"]]) byId(id).addEventListener("click", ACTIONS[key]);

addEventListener("pagehide", keepDraft);

await loadList();
