// The owner's page: live results are fetched repeatedly; buttons send changes and report them.

import { button, byId, make, showStatus } from "./dom.js";
import { post } from "./server.js";

const MIN_INTERVAL = 5000; // milliseconds between two updates
const FIRST_INTERVAL = 1000; // while the first results are computed
const REST_FACTOR = 5; // the interval is at least this many times the response time

let shownText = ""; // the HTML of the live part

// Replace the live part of the page.
async function refresh() {
  if (document.hidden) return;
  let text = "";
  try {
    const answer = await fetch("/owner/live", { credentials: "same-origin" });
    text = await answer.text();
    if (!answer.ok) return showStatus(new DOMParser().parseFromString(text, "text/html").querySelector(".answer")?.textContent ?? "The studio does not answer.", true);
  } catch {
    return showStatus("The studio does not answer.", true);
  }
  if (byId("saved").classList.contains("failed")) showStatus("");
  const fresh = new DOMParser().parseFromString(text, "text/html").body;
  const live = byId("live");
  if (text === shownText) return;
  shownText = text;
  const before = viewState(live);
  live.replaceChildren(...fresh.childNodes);
  restore(live, before);
}

const FOCUSED = "a, button, summary, [tabindex]";

// The open, scrolled and focused elements, by their position in the page.
function viewState(live) {
  return {
    open: [...live.querySelectorAll("details")].map((details) => details.open),
    scrolled: [...live.querySelectorAll(".scroll")].map((region) => [region.scrollLeft, region.scrollTop]),
    focused: [...live.querySelectorAll(FOCUSED)].indexOf(document.activeElement),
  };
}

function restore(live, { open, scrolled, focused }) {
  live.querySelectorAll("details").forEach((details, k) => (details.open = open[k] ?? false));
  live.querySelectorAll(".scroll").forEach((region, k) => region.scrollTo(...(scrolled[k] ?? [0, 0])));
  if (focused >= 0) live.querySelectorAll(FOCUSED)[focused]?.focus({ preventScroll: true });
}

async function watch() {
  const start = performance.now();
  await refresh();
  const counting = document.querySelector("[data-counting]");
  setTimeout(watch, counting ? FIRST_INTERVAL : Math.max(MIN_INTERVAL, REST_FACTOR * (performance.now() - start)));
}

async function write(path, content) {
  const { status, body } = await post(path, content);
  if (status === 200) return body;
  showStatus(body.error, true);
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
  const invitation = await write("/api/owner/invite", content);
  if (!invitation) return;
  showStatus(`${content.name} is invited.`);
  event.target.reset();
  showLink(content.name, invitation.link);
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
    const invitation = await write("/api/owner/renew", { assessor: Number(renews) });
    if (invitation) showLink(nameOf(target), invitation.link);
  } else if (withdraws && (await write("/api/owner/withdraw", { assessor: Number(withdraws) }))) {
    showStatus(`${nameOf(target)} can no longer judge. What was judged stays.`);
    target.closest("td").replaceChildren("withdrawn");
  }
}

byId("invite").addEventListener("submit", invite);
document.addEventListener("click", press);
setTimeout(watch, MIN_INTERVAL);
