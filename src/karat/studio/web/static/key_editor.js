// The key, question by question: nuggets are added, reworded, weighed and dropped. The page says
// first how many judgements an edit concerns; the studio refuses it if that is no longer so.

import { button, byId, make } from "./dom.js";
import { listen, toggleKeys } from "./keys.js";
import { get, post } from "./server.js";
import { newUuid } from "./uuid.js";

const KEYS = [["↑ ↓", "another nugget"], ["r", "reword it"], ["i", "vital or okay"], ["x", "drop it"], ["a", "add a nugget"], ["u", "undo the newest edit"], ["Ctrl+Enter", "save what you typed"], ["Escape", "cancel"], ["Enter", "next question"], ["b", "previous question"], ["/", "find a question"], ["?", "these keys"]];
const WORDS = { add: "added", reword: "reworded", drop: "dropped", importance: "importance changed", undo: "undone" };

let question = null;
let active = 0;
let form = null; // what is being written or confirmed: {what, nugget, concerns, field, weight, element}
let busy = false;
let unsaved = null; // an edit that was sent and not acknowledged keeps its uuid

function tell(sentence, failed = false) {
  byId("saved").className = failed ? "failed" : "";
  byId("saved").textContent = sentence;
}

const many = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
const joined = (words) => words.join(" / ");

// What an edit does to judgements that were made already.
function consequence(what, count) {
  if (what === "importance") return "";
  if (!count) return "No judgement is concerned.";
  const told = count === 1 ? "1 judgement or decision" : `${count.toLocaleString("en")} judgements and decisions`;
  if (what === "add") return `${many(count, "complete judgement")} will be incomplete: the assessors will be asked about the new nugget.`;
  if (what === "reword") return `${told} on the old words will no longer count: the assessors will be asked again.`;
  if (what === "drop") return `${told} on this nugget will no longer count. They stay in the log.`;
  return `${told} will be concerned: labels of words that leave the key no longer count, and assessors are asked about words without a label.`;
}

async function load(item) {
  const { status, body } = await get(`/api/key/${item}`);
  if (status !== 200) return tell(body.error, true);
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
    make("h2", {}, many(question.nuggets.length, "nugget")),
    make("ol", { class: "nuggets" }, ...question.nuggets.map(row)),
    make("div", { id: "adding" }),
    make("p", { class: "note", id: "told", role: "alert" }),
    past(),
  );
  show();
}

function row(nugget, k) {
  const may = { disabled: !question.open };
  const other = nugget.importance === "vital" ? "okay" : "vital";
  return make("li", { on: { click: () => activate(k), focusin: () => activate(k) }, "data-nugget": nugget.nugget },
    make("p", { class: "words" }, joined(nugget.descriptions), " ", make("small", {}, nugget.importance)),
    make("p", { class: "note" }, nugget.concerns ? `${many(nugget.concerns, "judgement")} so far` : "not judged yet"),
    make("div", { class: "choices", role: "group", "aria-label": joined(nugget.descriptions) },
      button("Reword", "r", () => (activate(k), write("reword")), may),
      button(`Make ${other}`, "i", () => (activate(k), moving(weigh)), may),
      button("Drop", "x", () => (activate(k), confirm("drop")), may)));
}

function past() {
  if (!question.edits.length) return make("p", { class: "note" }, "This question was not edited yet.");
  return make("details", { class: "table" }, make("summary", {}, many(question.edits.length, "edit")),
    make("ul", { class: "plain" }, ...question.edits.map((one) => make("li", {},
      `${one.time.slice(0, 19).replace("T", " ")} UTC, ${one.who}: ${WORDS[one.what]}${one.undone ? " (undone)" : ""}`,
      make("p", { class: "note" }, described(one.before, one.was), " → ", described(one.after, one.becomes))))));
}

const described = (words, importance) => (words ? `${joined(words)} (${importance})` : "none");

function activate(k) {
  active = k;
  show();
}

function show() {
  byId("judge").querySelectorAll(".nuggets > li").forEach((one, at) => {
    one.classList.toggle("active", at === active);
    one.ariaCurrent = String(at === active);
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
  field.defaultValue = what === "reword" ? chosen().descriptions.map((one) => one.trim().replace(/\s+/g, " ")).join("\n") : "";
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
  const [newest] = question.edits.filter((one) => one.what !== "undo" && !one.undone);
  const asked = what === "drop" ? "Drop this nugget?" : `Undo the newest edit (${WORDS[newest.what]})?`;
  start(what, make("div", { class: "editing", role: "alertdialog", "aria-label": asked },
    make("p", {}, make("strong", {}, asked)), make("p", { class: "consequence" }, consequence(what, count)),
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
  const words = field?.value.split("\n").map((one) => one.trim()).filter(Boolean);
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

// One write at a time; what was typed stays until it is saved.
async function send(edit) {
  const content = { item: question.item, supersedes: question.newest, ...edit };
  const sent = JSON.stringify(content);
  if (unsaved?.sent !== sent) unsaved = { sent, uuid: newUuid() };
  const { status, body } = await post("/api/key/edits", { uuid: unsaved.uuid, ...content });
  if (status !== 200) {
    tell(`Not saved: ${body.error}`, true);
    if (status === 422) await renew(edit);
    return;
  }
  if (edit.what === "add") active = question.nuggets.length;
  await load(question.item);
  tell(`Saved: ${WORDS[edit.what]}`);
  byId("judge").focus({ preventScroll: true });
}

// The question has changed meanwhile: show it as it is now, with what was typed.
async function renew({ what, nugget }) {
  const typed = form?.field?.value;
  const { status, body } = await get(`/api/key/${question.item}`);
  if (status !== 200) return;
  question = body;
  form = null;
  draw();
  const at = question.nuggets.findIndex((one) => one.nugget === nugget);
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
  if (status !== 200) return tell(body.error, true);
  const shown = body.questions.length;
  byId("found").textContent = shown < body.total ? `The first ${shown} of ${many(body.total, "question")}` : many(body.total, "question");
  byId("list").replaceChildren(...body.questions.map((one) => make("li", {}, button(`${one.segment}: ${one.text}`, "", () => goTo(one.item)), make("small", {}, ` ${many(one.nuggets, "nugget")}, ${many(one.edits, "edit")}`))));
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

const ACTS = {
  ArrowUp: () => step(-1), ArrowDown: () => step(1), r: () => write("reword"), i: () => moving(weigh), x: () => confirm("drop"), a: () => write("add"),
  u: () => confirm("undo"), b: () => goTo(question.previous), "/": seek, "?": help, Escape: cancel, Enter: () => (form ? moving(submit) : goTo(question.following)),
};

listen((key) => {
  if (busy || !question || !(key in ACTS)) return false;
  ACTS[key]();
  return true;
});
// Escape in a field is the field's for keys.js; here it also gives up what was typed there.
document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape" && form && !busy && (!field || form.element.contains(field))) cancel();
}, true);
byId("next").addEventListener("click", () => question && goTo(question.following));
for (const [id, key] of [["previous", "b"], ["add", "a"], ["undo", "u"], ["help", "?"]]) byId(id).addEventListener("click", () => question && ACTS[key]());
byId("find").addEventListener("submit", find);
byId("allow")?.addEventListener("change", async (event) => {
  const { status, body } = await post("/api/key/allow", { adjudicators: event.target.checked });
  if (status !== 200) event.target.checked = !event.target.checked;
  tell(status === 200 ? "Saved" : `Not saved: ${body.error}`, status !== 200);
});
addEventListener("beforeunload", (event) => {
  if (typing()) event.preventDefault();
});

const first = await find();
const asked = Number(location.hash.slice(1));
if (asked) await load(asked);
if (!question && first?.length) await load(first[0].item);
if (!question) byId("judge").replaceChildren(make("p", { class: "answer" }, "There are no questions."));
