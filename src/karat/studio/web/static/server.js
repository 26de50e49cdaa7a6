// Requests to the studio. An answer is {status, body}; status 0 means that none came.

const named = (page, name) => page.querySelector(`meta[name="${name}"]`)?.content;
const place = named(document, "place"); // the project and the assessor, on pages that judge
let csrf = named(document, "csrf");
const PATIENCE = 10000; // milliseconds

export async function get(path) {
  return ask(path, {});
}

export async function post(path, content) {
  const answer = await send(path, content);
  return answer.status === 403 && (await renewed()) ? send(path, content) : answer;
}

function send(path, content) {
  return ask(path, {
    method: "POST",
    body: JSON.stringify(content),
    headers: { "content-type": "application/json", "x-karat-csrf": csrf },
  });
}

// Who opens the link again in another tab begins a new session: this tab goes on with it, if it is
// that of the same assessor.
async function renewed() {
  if (!place) return false;
  try {
    const answer = await fetch("/", { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = named(page, "csrf");
    if (named(page, "place") !== place || found === csrf) return false;
    csrf = found;
    return true;
  } catch {
    return false;
  }
}

async function ask(path, options) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), PATIENCE);
  try {
    const answer = await fetch(path, { ...options, credentials: "same-origin", signal: limit.signal });
    return { status: answer.status, body: await answer.json() };
  } catch {
    return { status: 0, body: { error: "The studio does not answer." } };
  } finally {
    clearTimeout(timer);
  }
}
