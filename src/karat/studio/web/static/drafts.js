// Drafts: unfinished answers, kept in this tab until they are decided.

const inMemory = new Map(); // for browsers without storage

const name = (key) => `draft ${document.title} ${key}`;

export function keep(key, answer) {
  inMemory.set(key, answer);
  try {
    sessionStorage.setItem(name(key), JSON.stringify(answer));
  } catch {
    // full or forbidden: the draft lasts as long as the page
  }
}

export function draftOf(key) {
  try {
    return inMemory.get(key) ?? JSON.parse(sessionStorage.getItem(name(key)));
  } catch {
    return null;
  }
}

export function drop(key) {
  inMemory.delete(key);
  try {
    sessionStorage.removeItem(name(key));
  } catch {
    // nothing was stored
  }
}
