// The key editor: adds, rewords, reweights and drops nuggets, question by question. The page first
// shows how many judgements an edit concerns; the studio refuses the edit if that has changed.

import { button, byId, make, showStatus } from "./dom.js";
import { listen, toggleKeys } from "./keys.js";
import { get, post } from "./server.js";
import { newUuid } from "./uuid.js";

const KEYS = [["↑ ↓", "another nugget"], ["r", "reword it"], ["i", "vital or okay"], ["x", "drop it"], ["a", "add a nugget"], ["u", "undo the newest edit"], ["Ctrl+Enter", "save what you typed"], ["Escape", "cancel"], ["Enter", "next question"], ["b", "previous question"], ["/", "find a question"], ["?", "these keys"]];
const WORDS = { add: "added", reword: "reworded", drop: "dropped", importance: "importance changed", undo: "undone" };

let question = null;
let active = 0;
let form = null; // the edit being written or confirmed: {what, nugget, concerns, field, weight, element}
let busy = false;
let unsaved = null; // an edit without acknowledgement, which keeps its uuid

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const joined = (words) => words.join(" / ");

// The effect of an edit on existing judgements.
function consequence(what, count) {
  if (what === "importance") return "";
  if (!count) return "No judgement is concerned.";
  const affected = count === 1 ? "1 judgement or decision" : `${count.toLocaleString("en")} judgements and decisions`;
  if (what === "add") return `${counted(count, "complete judgement")} will be incomplete: the assessors will be asked about the new nugget.`;
  if (what === "reword") return `${affected} on the old words will no longer count: the assessors will be asked again.`;
  if (what === "drop") return `${affected} on this nugget will no longer count. They stay in the log.`;
  return `${affected} will be concerned: labels of words that leave the key no longer count, and assessors are asked about words without a label.`;
}

async function load(item) {
  const { status, body } = await get(`/api/key/${item}`);
  if (status !== 200) return showStatus(body.error, true);
  if (question?.item !== body.item) active = 0;
  question = body;
  form = unsaved = null;
  history.replaceState(null, "", `/key#${body.item}`);
  draw();
}

function draw() {
  active = Math.max(0, Math.min(active, question.nuggets.length - 1));
  const { open } = question;
  byId("previous").disabled = question.previous === null;
  byId("next").disabled = question.following === null;
  byId("add").disabled = !open;
  byId("undo").disabled = !open || question.undoing === null;
  byId("judge").replaceChildren(
    make("p", { class: "place" }, `Question ${question.number} of ${question.total}: ${question.segment}`, open ? "" : " (the project is frozen: its key is no longer edited)"),
    make("section", {}, make("h2", {}, "Question"), make("p", { class: "text question" }, question.text || question.segment)),
    make("h2", {}, counted(question.nuggets.length, "nugget")),
    make("ol", { class: "nuggets" }, ...question.nuggets.map(row)),
    make("div", { id: "adding" }),
    make("p", { class: "note", id: "told", role: "alert" }),
    editHistory(),
  );
  show();
}

function row(nugget, k) {
  const may = { disabled: !question.open };
  const other = nugget.importance === "vital" ? "okay" : "vital";
  return make("li", { on: { click: () => activate(k), focusin: () => activate(k) }, "data-nugget": nugget.nugget },
    make("p", { class: "words" }, joined(nugget.descriptions), " ", make("small", {}, nugget.importance)),
    make("p", { class: "note" }, nugget.concerns ? `${counted(nugget.concerns, "judgement")} so far` : "not judged yet"),
    make("div", { class: "choices", role: "group", "aria-label": joined(nugget.descriptions) },
      button("Reword", "r", () => (activate(k), write("reword")), may),
      button(`Make ${other}`, "i", () => (activate(k), moving(weigh)), may),
      button("Drop", "x", () => (activate(k), confirm("drop")), may)));
}

function editHistory() {
  if (!question.edits.length) return make("p", { class: "note" }, "This question was not edited yet.");
  return make("details", { class: "table" }, make("summary", {}, counted(question.edits.length, "edit")),
    make("ul", { class: "plain" }, ...question.edits.map((edit) => make("li", {},
      `${edit.time.slice(0, 19).replace("T", " ")} UTC, ${edit.who}: ${WORDS[edit.what]}${edit.undone ? " (undone)" : ""}`,
      make("p", { class: "note" }, described(edit.before, edit.was), " → ", described(edit.after, edit.becomes))))));
}

const described = (words, importance) => (words ? `${joined(words)} (${importance})` : "none");

function activate(k) {
  active = k;
  show();
}

function show() {
  byId("judge").querySelectorAll(".nuggets > li").forEach((row, at) => {
    row.classList.toggle("active", at === active);
    row.ariaCurrent = String(at === active);
  });
}

const chosen = () => question.nuggets[active];
const place = (what) => (what === "add" || what === "undo" ? byId("adding") : byId("judge").querySelectorAll(".nuggets > li")[active]);

function start(what, element, more = {}) {
  cancel();
  form = { what, nugget: what === "add" || what === "undo" ? null : chosen()?.nugget, element, ...more };
  place(what).append(element);
  element.scrollIntoView({ block: "nearest" });
}

// A form for the words of a nugget: one wording a line.
function write(what) {
  if (!question.open || (what === "reword" && !chosen())) return;
  const field = make("textarea", { rows: "3", maxlength: "40000", "aria-label": "Words of the nugget, one wording a line" });
  field.defaultValue = what === "reword" ? chosen().descriptions.map((wording) => wording.trim().replace(/\s+/g, " ")).join("\n") : "";
  const weight = what === "add" ? make("select", {}, make("option", {}, "vital"), make("option", {}, "okay")) : null;
  const count = what === "add" ? question.adding : chosen().concerns;
  start(what, make("div", { class: "editing" },
    make("p", {}, what === "add" ? "A nugget to add: " : "Other words: ", make("small", {}, "one wording a line, all with the same meaning")), field,
    weight ? make("label", {}, "Importance ", weight) : null,
    make("p", { class: "consequence" }, consequence(what, count)),
    choices(what === "add" ? "Add" : "Reword", "Ctrl+Enter")), { field, weight, concerns: count });
  field.focus();
}

function confirm(what) {
  if (!question.open || (what === "drop" ? !chosen() : question.undoing === null)) return;
  const count = what === "drop" ? chosen().concerns : question.undoing;
  const [newest] = question.edits.filter((edit) => edit.what !== "undo" && !edit.undone);
  const prompt = what === "drop" ? "Drop this nugget?" : `Undo the newest edit (${WORDS[newest.what]})?`;
  start(what, make("div", { class: "editing", role: "alertdialog", "aria-label": prompt },
    make("p", {}, make("strong", {}, prompt)), make("p", { class: "consequence" }, consequence(what, count)),
    choices(what === "drop" ? "Drop" : "Undo", "Enter")), { concerns: count });
  form.element.querySelector("button").focus();
}

function choices(name, key) {
  return make("p", { class: "choices" }, button(name, key, () => moving(submit), { class: "main" }), button("Cancel", "Escape", cancel));
}

function cancel() {
  form?.element.remove();
  form = null;
  byId("told").textContent = "";
  byId("judge").focus({ preventScroll: true });
}

async function submit() {
  if (!form) return;
  const { what, nugget, field, weight, concerns } = form;
  const words = field?.value.split("\n").map((wording) => wording.trim()).filter(Boolean);
  if (words && !words.length) {
    byId("told").textContent = "Write the words of the nugget first.";
    return field.focus();
  }
  if (what === "reword" && !typing()) return cancel(); // the words are the same
  await send({ what, concerns, ...(nugget === null ? {} : { nugget }), ...(words ? { descriptions: words } : {}), ...(weight ? { importance: weight.value } : {}) });
}

async function weigh() {
  if (!question.open || !chosen()) return;
  cancel();
  const { nugget, importance } = chosen();
  await send({ what: "importance", concerns: 0, nugget, importance: importance === "vital" ? "okay" : "vital" });
}

// One write at a time; typed text stays until it is saved.
async function send(edit) {
  const content = { item: question.item, supersedes: question.newest, ...edit };
  const sent = JSON.stringify(content);
  if (unsaved?.sent !== sent) unsaved = { sent, uuid: newUuid() };
  const { status, body } = await post("/api/key/edits", { uuid: unsaved.uuid, ...content });
  if (status !== 200) {
    showStatus(`Not saved: ${body.error}`, true);
    if (status === 422) await renew(edit);
    return;
  }
  if (edit.what === "add") active = question.nuggets.length;
  await load(question.item);
  showStatus(`Saved: ${WORDS[edit.what]}`);
  byId("judge").focus({ preventScroll: true });
}

// Somebody has changed the question: show its current state, with the typed text.
async function renew({ what, nugget }) {
  const typed = form?.field?.value;
  const { status, body } = await get(`/api/key/${question.item}`);
  if (status !== 200) return;
  question = body;
  form = null;
  draw();
  const at = question.nuggets.findIndex((row) => row.nugget === nugget);
  if (typed === undefined || (what === "reword" && at < 0)) return;
  if (at >= 0) activate(at);
  write(what);
  form.field.value = typed;
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

const goTo = (item) => moving(async () => {
  if (item === null || item === undefined || (typing() && !window.confirm("Leave what you typed?"))) return;
  await load(item);
  byId("judge").focus();
  scrollTo(0, 0);
});

const typing = () => Boolean(form?.field && form.field.value.trim() !== form.field.defaultValue);

async function find(event) {
  event?.preventDefault();
  const { status, body } = await get(`/api/key?q=${encodeURIComponent(byId("sought").value)}`);
  if (status !== 200) return showStatus(body.error, true);
  const nListed = body.questions.length;
  byId("found").textContent = nListed < body.total ? `The first ${nListed} of ${counted(body.total, "question")}` : counted(body.total, "question");
  byId("list").replaceChildren(...body.questions.map((row) => make("li", {}, button(`${row.segment}: ${row.text}`, "", () => goTo(row.item)), make("small", {}, ` ${counted(row.nuggets, "nugget")}, ${counted(row.edits, "edit")}`))));
  return body.questions;
}

const help = () => toggleKeys(KEYS);

function step(by) {
  activate(Math.max(0, Math.min(question.nuggets.length - 1, active + by)));
  byId("judge").querySelectorAll(".nuggets > li")[active]?.scrollIntoView({ block: "nearest" });
}

function seek() {
  byId("ranked").open = true;
  byId("sought").focus();
}

const ACTIONS = {
  ArrowUp: () => step(-1), ArrowDown: () => step(1), r: () => write("reword"), i: () => moving(weigh), x: () => confirm("drop"), a: () => write("add"),
  u: () => confirm("undo"), b: () => goTo(question.previous), "/": seek, "?": help, Escape: cancel, Enter: () => (form ? moving(submit) : goTo(question.following)),
};

listen((key) => {
  if (busy || !question || !(key in ACTIONS)) return false;
  ACTIONS[key]();
  return true;
});
// In keys.js Escape leaves a field; here it also discards the form.
document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape" && form && !busy && (!field || form.element.contains(field))) cancel();
}, true);
byId("next").addEventListener("click", () => question && goTo(question.following));
for (const [id, key] of [["previous", "b"], ["add", "a"], ["undo", "u"], ["help", "?"]]) byId(id).addEventListener("click", () => question && ACTIONS[key]());
byId("find").addEventListener("submit", find);
byId("allow")?.addEventListener("change", async (event) => {
  const { status, body } = await post("/api/key/allow", { adjudicators: event.target.checked });
  if (status !== 200) event.target.checked = !event.target.checked;
  showStatus(status === 200 ? "Saved" : `Not saved: ${body.error}`, status !== 200);
});
addEventListener("beforeunload", (event) => {
  if (typing()) event.preventDefault();
});

const first = await find();
const requested = Number(location.hash.slice(1));
if (requested) await load(requested);
if (!question && first?.length) await load(first[0].item);
if (!question) byId("judge").replaceChildren(make("p", { class: "answer" }, "There are no questions."));
