// The owner's page: what is live is fetched again and again; buttons write and say what happened.

import { button, byId, make } from "./dom.js";
import { post } from "./server.js";

const EVERY = 5000; // milliseconds between looks at what is live, at least
const SOON = 1000; // while the first results are computed
const REST = 5; // times as long as the studio took to answer

let shown = ""; // the text of what is live

function tell(sentence, failed = false) {
  byId("saved").className = failed ? "failed" : "";
  byId("saved").textContent = sentence;
}

// The part of the page that changes, from the same template.
async function refresh() {
  if (document.hidden) return;
  let text = "";
  try {
    const answer = await fetch("/owner/live", { credentials: "same-origin" });
    text = await answer.text();
    if (!answer.ok) return tell(new DOMParser().parseFromString(text, "text/html").querySelector(".answer")?.textContent ?? "The studio does not answer.", true);
  } catch {
    return tell("The studio does not answer.", true);
  }
  if (byId("saved").classList.contains("failed")) tell("");
  const fresh = new DOMParser().parseFromString(text, "text/html").body;
  const live = byId("live");
  if (text === shown) return;
  shown = text;
  const before = placesOf(live);
  live.replaceChildren(...fresh.childNodes);
  restore(live, before);
}

const FOCUSED = "a, button, summary, [tabindex]";

// What a reader has opened, scrolled and focused, by its place in the page.
function placesOf(live) {
  return {
    open: [...live.querySelectorAll("details")].map((one) => one.open),
    scrolled: [...live.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]),
    focused: [...live.querySelectorAll(FOCUSED)].indexOf(document.activeElement),
  };
}

function restore(live, { open, scrolled, focused }) {
  live.querySelectorAll("details").forEach((one, k) => (one.open = open[k] ?? false));
  live.querySelectorAll(".scroll").forEach((one, k) => one.scrollTo(...(scrolled[k] ?? [0, 0])));
  if (focused >= 0) live.querySelectorAll(FOCUSED)[focused]?.focus({ preventScroll: true });
}

async function watch() {
  const start = performance.now();
  await refresh();
  const counting = document.querySelector("[data-counting]");
  setTimeout(watch, counting ? SOON : Math.max(EVERY, REST * (performance.now() - start)));
}

async function write(path, content) {
  const { status, body } = await post(path, content);
  if (status === 200) return body;
  tell(body.error, true);
  return null;
}

// The link is shown once: the studio has only a hash of it.
function showLink(name, path) {
  const link = new URL(path, location.href).href;
  const field = make("input", { readonly: true, value: link, "aria-label": `Link for ${name}`, class: "link" });
  const copy = button("Copy", "", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      document.execCommand("copy"); // browsers have the clipboard on loopback and https only
    }
    copy.textContent = "Copied";
  });
  byId("invited").replaceChildren(make("p", {}, `Send this link to ${name}. It is shown once. `), make("p", { class: "choices" }, field, copy));
  copy.focus();
}

async function invite(event) {
  event.preventDefault();
  const { name, role, quota } = event.target.elements;
  const content = { name: name.value.trim(), role: role.value, ...(quota.value ? { quota: Number(quota.value) } : {}) };
  const found = await write("/api/owner/invite", content);
  if (!found) return;
  tell(`${content.name} is invited.`);
  event.target.reset();
  showLink(content.name, found.link);
  await refresh();
}

const nameOf = (target) => target.closest("tr").cells[0].textContent;

async function press(event) {
  const target = event.target.closest("button");
  if (!target) return;
  const { opens, posts, renews, withdraws } = target.dataset;
  if (opens) byId(opens).showModal();
  else if ("closes" in target.dataset) target.closest("dialog").close();
  else if (posts) {
    if (await write(posts, {})) location.reload();
    else target.closest("dialog")?.close();
  } else if (renews) {
    const found = await write("/api/owner/renew", { assessor: Number(renews) });
    if (found) showLink(nameOf(target), found.link);
  } else if (withdraws && (await write("/api/owner/withdraw", { assessor: Number(withdraws) }))) {
    tell(`${nameOf(target)} can no longer judge. What was judged stays.`);
    target.closest("td").replaceChildren("withdrawn");
  }
}

byId("invite").addEventListener("submit", invite);
document.addEventListener("click", press);
setTimeout(watch, EVERY);
