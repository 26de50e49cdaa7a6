// The page of an assessor: shows an assignment, handles keys and clicks, saves every action.

import { Clock } from "./clock.js";
import { button, byId, make } from "./dom.js";
import { listen, toggleKeys } from "./keys.js";
import { Queue } from "./queue.js";
import { get } from "./server.js";
import { TASKS, accompanyingText, answerWithComment, outputTexts, sourceText } from "./tasks.js";
import { newUuid } from "./uuid.js";

const CLOSED = 422; // the project no longer accepts judgements
const TYPING_PAUSE = 600; // milliseconds without typing after which a comment is saved
const COMMON_KEYS = [["Enter", "done, go to the next"], ["b", "previous"], ["u or Ctrl+z", "undo"], ["c", "comment (Escape leaves it)"], [".", "pause"], ["?", "these keys"]];

const clock = new Clock();
const queue = new Queue(status);
let item = null; // the assignment shown
let before = null; // the previous assignment
let task = null;
let comment = null;
let newest = null; // uuid of its newest answer
let past = []; // values before each change, for undo
let current = null; // the value sent last
let busy = false;
let typingTimer = null;

function status() {
  const saved = byId("saved");
  saved.className = queue.refused ? "failed" : queue.empty ? "" : "waiting";
  if (queue.refused) {
    saved.replaceChildren(`Not saved: ${queue.refused.error} `, button("Show what is saved", "", giveUp));
  } else if (queue.empty) saved.textContent = "Saved";
  else if (queue.offline) saved.textContent = `Not saved yet (${queue.entries.length}). ${queue.offline} Trying again.`;
  else saved.textContent = "Not saved yet";
}

function showProgress({ done, total }) {
  byId("progress").max = Math.max(total, 1);
  byId("progress").value = done;
  byId("count").textContent = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
}

async function giveUp() {
  const { assignment } = queue.refused.entry.content;
  queue.giveUp();
  await load(`/api/item/${assignment}`);
}

// Send an answer: every change as a draft, then the complete answer.
function save(value) {
  const uuid = newUuid();
  queue.add("/api/judgements", { uuid, assignment: item.assignment, value, ms: clock.ms, supersedes: newest });
  newest = uuid;
  current = value;
}

// A revised answer stays complete unless the revision is incomplete.
function changed() {
  stopTyping();
  past.push(current);
  save({ ...answer(), done: Boolean(current) && current.done !== false && !task.missing() });
}

const answer = () => answerWithComment(task, comment);

// The same text for equal answers, regardless of the order of keys.
function canonical(value) {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part);
}

function typed() {
  stopTyping();
  typingTimer = setTimeout(changed, TYPING_PAUSE);
}

function stopTyping() {
  clearTimeout(typingTimer);
  typingTimer = null;
}

// Save a comment before another item is shown.
function flush() {
  if (typingTimer !== null) changed();
}

const asSentence = (error) => `${error.charAt(0).toUpperCase()}${error.slice(1).replace(/\.$/, "")}.`;

async function load(path) {
  const { status: code, body } = await get(path);
  if (code !== 200) {
    byId("saved").className = "failed";
    byId("saved").replaceChildren(`${body.error} `, button("Try again", "", () => load(path)));
    if (!item) byId("judge").replaceChildren(make("p", { class: "answer" }, asSentence(body.error)));
    document.body.classList.toggle("closed", !item && code === CLOSED);
    return false;
  }
  showProgress(body.progress);
  before = body.item ? body.item.previous : body.last;
  show(body.item);
  return true;
}

function show(assignment) {
  stopTyping();
  item = assignment;
  past = [];
  current = item?.value ?? null;
  newest = item?.newest ?? null;
  clock.start(item?.ms ?? 0);
  document.body.classList.toggle("finished", !item);
  byId("previous").disabled = before === null;
  showHint("");
  if (!item) {
    task = null;
    byId("judge").replaceChildren(...endMessage());
    return;
  }
  draw();
  byId("judge").focus();
  scrollTo(0, 0);
}

// The message when nothing is left: what an assessor can still do, or when to come back.
function endMessage() {
  const [answer, note] = before === null
    ? ["There is nothing for you to judge now.", "All units are judged, or others are judging them. Load the page again later."]
    : ["All done. Thank you.", "Everything is saved. Previous opens your answers again. You can change them until the owner freezes the project."];
  return [make("p", { class: "answer" }, answer), make("p", { class: "note" }, note)];
}

function draw() {
  const { texts, sections } = outputTexts(item);
  comment = make("textarea", { rows: "2", maxlength: "2000", on: { input: typed } });
  comment.value = item.value?.comment ?? "";
  task = new TASKS[item.task](item, item.value, changed, texts);
  byId("judge").replaceChildren(
    accompanyingText("Context: the source before this segment", item.context, "context"), sourceText(item),
    ...item.references.map((text) => accompanyingText("Reference", text)),
    make("div", { class: sections.length > 1 ? "sides" : "stays" }, ...sections),
    item.edited && item.value ? make("p", { class: "note" }, "The key of this question was edited. Your earlier labels of other nuggets are kept.") : "",
    task.element,
    make("label", { class: "comment" }, "Comment ", make("kbd", {}, "c"), comment),
  );
}

function showHint(sentence) {
  byId("told").textContent = sentence;
}

// Run one move at a time, and none while paused.
async function moving(move) {
  if (busy || clock.paused) return;
  busy = true;
  byId("next").setAttribute("aria-busy", "true");
  try {
    await move();
  } finally {
    busy = false;
    byId("next").removeAttribute("aria-busy");
  }
}

async function next() {
  if (task) {
    const lacking = task.missing();
    if (lacking) {
      task.goToMissing?.();
      return showHint(lacking);
    }
    showHint("");
    stopTyping();
    const value = { ...answer(), done: true };
    if (canonical(current) !== canonical(value)) save(value);
  }
  if (await queue.settled()) await load(item?.following ? `/api/item/${item.following}` : "/api/next");
}

async function previous() {
  flush();
  if (before && (await queue.settled())) await load(`/api/item/${before}`);
}

// Undo the last change of this item; without one, reopen the previous item.
async function undo() {
  flush();
  if (past.length) restore(past.pop());
  else if (current && current.done !== false) restore({ ...current, done: false });
  else if (current) restore(null);
  else if (before && (await queue.settled()) && (await load(`/api/item/${before}`))) {
    if (current) restore({ ...current, done: false });
  }
}

function restore(value) {
  if (value) save(value);
  else {
    const uuid = newUuid();
    queue.add("/api/undo", { uuid, assignment: item.assignment, supersedes: newest });
    newest = uuid;
    current = null;
  }
  task.show(value);
  comment.value = value?.comment ?? "";
}

function pause() {
  clock.pause(!clock.paused);
  document.body.classList.toggle("paused", clock.paused);
  byId("judge").inert = clock.paused;
  byId("pause").setAttribute("aria-pressed", String(clock.paused));
}

const help = () => toggleKeys([...(task?.keys ?? []), ...COMMON_KEYS]);

const ACTIONS = { Enter: () => moving(next), b: () => moving(previous), u: () => moving(undo), "Ctrl+z": () => moving(undo), ".": pause, "?": help, c: () => comment?.focus() };

listen((key, event) => {
  if (clock.paused && key !== ".") return false;
  if (!busy && task?.handleKey(key, event)) return true;
  ACTIONS[key]?.();
  return key in ACTIONS;
});
byId("next").addEventListener("click", ACTIONS.Enter);
byId("previous").addEventListener("click", ACTIONS.b);
byId("undo").addEventListener("click", ACTIONS.u);
byId("pause").addEventListener("click", pause);
byId("help").addEventListener("click", help);
addEventListener("beforeunload", (event) => {
  flush();
  if (!queue.empty) event.preventDefault();
});

// First send what an earlier visit could not save.
queue.send();
status();
if (await queue.settled()) await load("/api/next");
