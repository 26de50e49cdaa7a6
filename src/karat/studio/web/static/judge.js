// The page of an assessor: shows an assignment, takes keys and clicks, saves every action.

import { Clock } from "./clock.js";
import { button, byId, make } from "./dom.js";
import { listen, toggleKeys } from "./keys.js";
import { MarkedText } from "./marked_text.js";
import { Nuggets } from "./nuggets.js";
import { Pairs } from "./pairs.js";
import { Queue } from "./queue.js";
import { Ratings } from "./ratings.js";
import { get } from "./server.js";
import { Spans } from "./spans.js";
import { newUuid } from "./uuid.js";

const TASKS = { ratings: Ratings, pairs: Pairs, spans: Spans, nuggets: Nuggets };
const CLOSED = 422; // the project takes no judgements any more
const TYPING = 600; // milliseconds of rest after which a comment is saved
const COMMON_KEYS = [["Enter", "done, go to the next"], ["b", "previous"], ["u or Ctrl+z", "undo"], ["c", "comment (Escape leaves it)"], [".", "pause"], ["?", "these keys"]];

const clock = new Clock();
const queue = new Queue(status);
let item = null; // what is shown
let before = null; // the assignment before it
let task = null;
let comment = null;
let newest = null; // uuid of the newest answer to it
let past = []; // values before each change, for undo
let current = null; // the value that was sent last
let busy = false;
let typing = null;

function status() {
  const saved = byId("saved");
  saved.className = queue.refused ? "failed" : queue.empty ? "" : "waiting";
  if (queue.refused) {
    saved.replaceChildren(`Not saved: ${queue.refused.told} `, button("Show what is saved", "", giveUp));
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

// What is sent: every change as a draft, then the answer that is done.
function save(value) {
  const uuid = newUuid();
  queue.add("/api/judgements", { uuid, assignment: item.assignment, value, ms: clock.ms, supersedes: newest });
  newest = uuid;
  current = value;
}

// A finished answer that is revised stays finished, unless the revision is incomplete.
function changed() {
  rest();
  past.push(current);
  save({ ...answer(), done: Boolean(current) && current.done !== false && !task.missing() });
}

function answer() {
  const text = comment.value.trim();
  return { ...task.value(), ...(text ? { comment: text } : {}) };
}

// The same text for the same answer, whatever the order of its keys.
function spelled(value) {
  return JSON.stringify(value, (_, one) =>
    one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort()) : one);
}

function typed() {
  rest();
  typing = setTimeout(changed, TYPING);
}

function rest() {
  clearTimeout(typing);
  typing = null;
}

// A comment belongs to the item on which it was typed: it is saved before another is shown.
function flush() {
  if (typing !== null) changed();
}

const sentence = (told) => `${told.charAt(0).toUpperCase()}${told.slice(1).replace(/\.$/, "")}.`;

async function load(path) {
  const { status: code, body } = await get(path);
  if (code !== 200) {
    byId("saved").className = "failed";
    byId("saved").replaceChildren(`${body.error} `, button("Try again", "", () => load(path)));
    if (!item) byId("judge").replaceChildren(make("p", { class: "answer" }, sentence(body.error)));
    document.body.classList.toggle("closed", !item && code === CLOSED);
    return false;
  }
  showProgress(body.progress);
  before = body.item ? body.item.previous : body.last;
  show(body.item);
  return true;
}

function show(found) {
  rest();
  item = found;
  past = [];
  current = found?.value ?? null;
  newest = found?.newest ?? null;
  clock.start(found?.ms ?? 0);
  document.body.classList.toggle("finished", !found);
  byId("previous").disabled = before === null;
  tell("");
  if (!found) {
    task = null;
    byId("judge").replaceChildren(...end());
    return;
  }
  draw();
  byId("judge").focus();
  scrollTo(0, 0);
}

// Nothing is left: those who judged hear what they can still do, others when to come back.
function end() {
  const told = before === null
    ? ["There is nothing for you to judge now.", "All units are judged, or others are judging them. Load the page again later."]
    : ["All done. Thank you.", "Everything is saved. Previous opens your answers again. You can change them until the owner freezes the project."];
  return [make("p", { class: "answer" }, told[0]), make("p", { class: "note" }, told[1])];
}

function draw() {
  const names = item.outputs.length > 1 ? ["First", "Second"] : [item.task === "nuggets" ? "Response" : "Output"];
  const texts = item.outputs.map((output, k) => new MarkedText(output.text, names[k]));
  comment = make("textarea", { rows: "2", maxlength: "2000", on: { input: typed } });
  comment.value = item.value?.comment ?? "";
  task = new TASKS[item.task](item, item.value, changed, texts);
  const outputs = texts.map((text, k) => make("section", { class: "output" }, make("h2", {}, names[k]), text.element, text.spoken));
  byId("judge").replaceChildren(
    part("Context: the source before this segment", item.context, "context"), part(item.task === "nuggets" ? "Question" : "Source", item.source),
    ...item.references.map((text) => part("Reference", text)),
    make("div", { class: outputs.length > 1 ? "sides" : "stays" }, ...outputs),
    item.edited && item.value ? make("p", { class: "note" }, "The key of this question was edited. Your earlier labels of other nuggets are kept.") : "",
    task.element,
    make("label", { class: "comment" }, "Comment ", make("kbd", {}, "c"), comment),
  );
}

function part(name, text, kind = "") {
  if (!text) return "";
  return make("section", { class: `beside ${kind}` }, make("h2", {}, name), make("p", { class: "text", dir: "auto", tabindex: "0", "aria-label": name }, text));
}

function tell(sentence) {
  byId("told").textContent = sentence;
}

// One move at a time; none before everything is saved.
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
      task.lead?.();
      return tell(lacking);
    }
    tell("");
    rest();
    const value = { ...answer(), done: true };
    if (spelled(current) !== spelled(value)) save(value);
  }
  if (await queue.settled()) await load(item?.following ? `/api/item/${item.following}` : "/api/next");
}

async function previous() {
  flush();
  if (before && (await queue.settled())) await load(`/api/item/${before}`);
}

// Undo the last change of this item; where there is none, open the previous item again.
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

const ACTS = { Enter: () => moving(next), b: () => moving(previous), u: () => moving(undo), "Ctrl+z": () => moving(undo), ".": pause, "?": help, c: () => comment?.focus() };

listen((key, event) => {
  if (clock.paused && key !== ".") return false;
  if (!busy && task?.obey(key, event)) return true;
  ACTS[key]?.();
  return key in ACTS;
});
byId("next").addEventListener("click", ACTS.Enter);
byId("previous").addEventListener("click", ACTS.b);
byId("undo").addEventListener("click", ACTS.u);
byId("pause").addEventListener("click", pause);
byId("help").addEventListener("click", help);
addEventListener("beforeunload", (event) => {
  flush();
  if (!queue.empty) event.preventDefault();
});

// What an earlier visit could not save goes first.
queue.send();
status();
if (await queue.settled()) await load("/api/next");
