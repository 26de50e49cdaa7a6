// Requests to the studio. An answer is {status, body}; status 0 means that none came.

const csrf = document.querySelector('meta[name="csrf"]').content;
const PATIENCE = 10000; // milliseconds

export async function get(path) {
  return ask(path, {});
}

export async function post(path, content) {
  return ask(path, {
    method: "POST",
    body: JSON.stringify(content),
    headers: { "content-type": "application/json", "x-karat-csrf": csrf },
  });
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
