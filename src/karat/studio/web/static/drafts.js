// Drafts: answers that were begun and left, kept in this tab until they are decided or thrown away.

const kept = new Map(); // for browsers that store nothing

const name = (key) => `draft ${document.title} ${key}`;

export function keep(key, answer) {
  kept.set(key, answer);
  try {
    sessionStorage.setItem(name(key), JSON.stringify(answer));
  } catch {
    // full or forbidden: the draft lasts as long as the page
  }
}

export function draftOf(key) {
  try {
    return kept.get(key) ?? JSON.parse(sessionStorage.getItem(name(key)));
  } catch {
    return null;
  }
}

export function drop(key) {
  kept.delete(key);
  try {
    sessionStorage.removeItem(name(key));
  } catch {
    // nothing was stored
  }
}
