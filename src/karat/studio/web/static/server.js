// Requests to the studio. An answer is {status, body}; status 0 means no answer.

const metaContent = (page, name) => page.querySelector(`meta[name="${name}"]`)?.content;
const place = metaContent(document, "place"); // the project and the assessor, on the judging page
let csrf = metaContent(document, "csrf");
const TIMEOUT = 10000; // milliseconds

export async function get(path) {
  return ask(path, {});
}

export async function post(path, content) {
  const answer = await send(path, content);
  return answer.status === 403 && (await renewSession()) ? send(path, content) : answer;
}

function send(path, content) {
  return ask(path, {
    method: "POST",
    body: JSON.stringify(content),
    headers: { "content-type": "application/json", "x-karat-csrf": csrf },
  });
}

// Opening the link again in another tab begins a new session. This tab continues with it if the
// assessor is the same.
async function renewSession() {
  if (!place) return false;
  try {
    const answer = await fetch("/", { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const newCsrf = metaContent(page, "csrf");
    if (metaContent(page, "place") !== place || newCsrf === csrf) return false;
    csrf = newCsrf;
    return true;
  } catch {
    return false;
  }
}

async function ask(path, options) {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIMEOUT);
  try {
    const answer = await fetch(path, { ...options, credentials: "same-origin", signal: limit.signal });
    return { status: answer.status, body: await answer.json() };
  } catch {
    return { status: 0, body: { error: "The studio does not answer." } };
  } finally {
    clearTimeout(timer);
  }
}
