// Unsaved entries, sent one after the other until the studio has stored each. Every entry has its
// own uuid, so that sending it twice stores it once. Entries are also in localStorage, one key each,
// so that a reload or another tab loses none.

import { post } from "./server.js";

const place = `karat-studio.${document.querySelector('meta[name="place"]').content}.`;
const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 15000;
const TEMPORARY = [0, 401, 403, 408, 421, 429]; // no connection or session, or too many requests: sent again later

export class Queue {
  constructor(changed) {
    this.changed = changed;
    this.entries = [];
    this.refused = null;
    this.offline = false;
    this.sending = false;
    this.wait = FIRST_WAIT;
    this.number = 0;
    this.restore();
    addEventListener("online", () => this.send());
  }

  restore() {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(place)).sort();
      this.entries = keys.map((key) => ({ ...JSON.parse(localStorage.getItem(key)), key }));
    } catch {
      this.entries = []; // no storage: entries live in memory alone
    }
  }

  get empty() {
    return this.entries.length === 0;
  }

  add(path, content) {
    const order = `${String(Date.now()).padStart(15, "0")}.${String(this.number++).padStart(6, "0")}`;
    const entry = { path, content, key: `${place}${order}.${content.uuid}` };
    this.entries.push(entry);
    try {
      localStorage.setItem(entry.key, JSON.stringify({ path, content }));
    } catch {
      // Storage is full or forbidden: the entry stays in memory.
    }
    this.changed();
    this.send();
  }

  // Resolves to true when everything is saved, to false if the studio refused an entry.
  async settled() {
    while (!this.empty && !this.refused) await new Promise((done) => setTimeout(done, 20));
    return this.empty;
  }

  async send() {
    if (this.sending || this.refused) return;
    this.sending = true;
    while (!this.empty && !this.refused) {
      const entry = this.entries[0];
      const { status, body } = await post(entry.path, entry.content);
      if (status === 200) {
        this.drop(entry);
        this.offline = false;
        this.wait = FIRST_WAIT;
        this.changed();
      } else if (TEMPORARY.includes(status) || status >= 500) {
        this.offline = body.error;
        this.changed();
        await new Promise((done) => setTimeout(done, this.wait));
        this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
      } else {
        this.refused = { entry, error: body.error };
        this.changed();
      }
    }
    this.sending = false;
  }

  drop(entry) {
    this.entries = this.entries.filter((other) => other !== entry);
    try {
      localStorage.removeItem(entry.key);
    } catch {
      // It was not stored either.
    }
  }

  // Discard the refused entry and all others on the same assignment.
  giveUp() {
    const { assignment } = this.refused.entry.content;
    for (const entry of this.entries.filter((other) => other.content.assignment === assignment)) this.drop(entry);
    this.refused = null;
    this.changed();
    this.send();
  }
}
