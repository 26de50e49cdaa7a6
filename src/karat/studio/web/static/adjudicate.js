// Adjudication: disputes, the largest first; the decision is an answer to what is disputed.

import { button, byId, make } from "./dom.js";
import { draftOf, drop, keep } from "./drafts.js";
import { listen, toggleKeys } from "./keys.js";
import { MarkedText } from "./marked_text.js";
import { Nuggets } from "./nuggets.js";
import { Pairs } from "./pairs.js";
import { Ratings } from "./ratings.js";
import { get, post } from "./server.js";
import { Spans } from "./spans.js";
import { inWords, statement } from "./statements.js";
import { newUuid } from "./uuid.js";

const TASKS = { ratings: Ratings, pairs: Pairs, spans: Spans, nuggets: Nuggets };
const DECIDED = 409; // somebody else has decided
const KEYS = [["A, B, … (with Shift)", "take what an assessor said"], ["Enter", "decide, go to the next"], ["k", "skip (a draft is kept)"], ["b", "previous"], ["u", "undo the decision"], ["W (with Shift)", "show the names, which is recorded"], ["c", "comment (Escape leaves it)"], ["?", "these keys"]];

let list = []; // disputes of this visit, in their order
let at = 0;
let item = null;
let task = null;
let comment = null;
let busy = false;
let empty = {}; // the answer of a form that nobody has touched
let unsaved = null; // a decision that was sent and not acknowledged keeps its uuid

function tell(sentence, failed = false) {
  byId("saved").className = failed ? "failed" : "";
  byId("saved").textContent = sentence;
}

const told = ({ task, about }) => ({ pairs: "pair", nuggets: `nugget ${about}`, spans: "errors" })[task] ?? about;

async function loadList() {
  const { status, body } = await get("/api/disputes");
  if (status !== 200) return tell(body.error, true);
  list = body.disputes;
  at = 0;
  byId("list").replaceChildren(...list.map((one, k) => make("li", {}, button(`${one.segment}: ${told(one)}, ${one.amount.toFixed(2)}`, "", () => goTo(k)))));
  await open();
}

async function open() {
  unsaved = null;
  byId("previous").disabled = at === 0;
  byId("judge").classList.toggle("finished", at >= list.length);
  if (at >= list.length) {
    item = task = null;
    for (const one of document.querySelectorAll(".moves, #ranked")) one.hidden = !list.length;
    const sentence = list.length ? "These disputes are done." : "There are no open disputes.";
    byId("judge").replaceChildren(make("p", { class: "answer" }, sentence), make("p", {}, make("a", { href: "/adjudicate" }, "Look for more")));
    return;
  }
  const { judgement, about } = list[at];
  const { status, body } = await get(`/api/disputes/${judgement}?about=${encodeURIComponent(about)}`);
  if (status !== 200) return tell(body.error, true);
  item = body;
  draw();
  byId("judge").focus();
  scrollTo(0, 0);
}

function draw() {
  const names = item.outputs.length > 1 ? ["First", "Second"] : [item.task === "nuggets" ? "Response" : "Output"];
  const texts = item.outputs.map((output, k) => new MarkedText(output.text, names[k]));
  const draft = draftOf(keyOf(item));
  const value = draft ?? item.value;
  comment = make("textarea", { rows: "2", maxlength: "2000" });
  comment.value = value?.comment ?? "";
  task = new TASKS[item.task](item, value, () => (unsaved = null), texts);
  if (!value) empty = answer();
  const outputs = texts.map((text, k) => make("section", { class: "output" }, make("h2", {}, names[k]), text.element, text.spoken));
  const place = `Dispute ${at + 1} of ${list.length}: ${told(item)}, disagreement ${item.amount.toFixed(2)}`;
  byId("judge").replaceChildren(
    make("h1", { class: "place" }, place, item.value ? `. Decided: ${inWords(item, item.value)}` : "", draft ? ". This is your draft" : ""),
    part(item.task === "nuggets" ? "Question" : "Source", item.source), part("Context", item.context),
    ...item.references.map((text) => part("Reference", text)),
    make("div", { class: outputs.length > 1 ? "sides" : "" }, ...outputs),
    make("div", { class: "statements" }, ...item.said.map((said) => statement(item, said, take))),
    make("h2", { class: "decision" }, "Decision"),
    task.element,
    make("p", { class: "note", id: "told", role: "alert" }),
    make("label", { class: "comment" }, "Comment ", make("kbd", {}, "c"), comment),
  );
}

function part(name, text) {
  if (!text) return "";
  return make("section", { class: "beside" }, make("h2", {}, name), make("p", { class: "text", dir: "auto", tabindex: "0", "aria-label": name }, text));
}

function take(said) {
  unsaved = null;
  task.show(said.value);
}

// What is in the form, as an answer with its comment.
function answer() {
  const text = comment.value.trim();
  return { ...task.value(), ...(text ? { comment: text } : {}) };
}

const keyOf = ({ task, item, output, about }) => JSON.stringify([task, item, output, about]);

// Whoever leaves a dispute finds the answer and the comment again.
function leave() {
  if (!task) return;
  const before = draftOf(keyOf(item)) ?? item.value ?? empty;
  if (JSON.stringify(answer()) !== JSON.stringify(before)) keep(keyOf(item), answer());
}

const target = () => ({ task: item.task, item: item.item, output: item.output, about: item.about });

// One write at a time; nothing goes on before it is saved.
async function save(answer) {
  const sent = JSON.stringify([target(), answer]);
  if (unsaved?.sent !== sent) unsaved = { sent, uuid: newUuid() };
  const content = { uuid: unsaved.uuid, ...target(), answer, supersedes: item.newest };
  const { status, body } = await post("/api/adjudications", content);
  if (status === DECIDED) await overtaken();
  else if (status !== 200) tell(`Not saved: ${body.error}`, true);
  if (status !== 200) return false;
  drop(keyOf(item));
  item.newest = unsaved.uuid;
  unsaved = null;
  return true;
}

// Somebody else decided meanwhile: their decision is shown above, and the answer stays a draft.
async function overtaken() {
  leave();
  await open();
  tell("Not saved: somebody else decided this meanwhile. Decide again, or skip it.", true);
}

async function decide() {
  if (!task) return;
  const lacking = task.missing();
  byId("told").textContent = lacking;
  if (lacking) return;
  if (!(await save(answer()))) return;
  tell("Saved");
  at += 1;
  await open();
}

// Undo the decision that is shown, else go back to the one before and undo that.
async function undo() {
  if (!item?.newest || item.value === null) {
    if (at === 0) return tell("There is no decision to undo.");
    at -= 1;
    await open();
  }
  if (!item?.newest || item.value === null) return;
  if (!(await save(null))) return;
  item.value = null;
  draw();
  tell("Undone");
}

async function names() {
  if (!item) return;
  const { status, body } = await post("/api/names", target());
  if (status !== 200) return tell(body.error, true);
  for (const [letter, name] of Object.entries(body.names)) {
    const place = document.querySelector(`[data-letter="${letter}"]`);
    if (place) place.textContent = `${letter}: ${name}`;
  }
  tell("That you asked for the names is recorded.");
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
    leave();
    at = Math.max(0, Math.min(list.length, place));
    await open();
  });
}

const help = () => toggleKeys([...(task?.keys ?? []), ...KEYS]);

const ACTS = { Enter: () => moving(decide), k: () => goTo(at + 1), b: () => goTo(at - 1), u: () => moving(undo), W: () => moving(names), "?": help, c: () => comment?.focus() };

listen((key, event) => {
  if (busy) return false;
  const said = /^[A-VX-Z]$/.test(key) && item?.said.find((one) => one.letter === key);
  if (said) take(said);
  else if (task?.obey(key, event)) return true;
  else ACTS[key]?.();
  return Boolean(said) || key in ACTS;
});
for (const [id, key] of [["next", "Enter"], ["skip", "k"], ["previous", "b"], ["undo", "u"], ["names", "W"], ["help", "?"]]) byId(id).addEventListener("click", ACTS[key]);

addEventListener("pagehide", leave);

await loadList();
