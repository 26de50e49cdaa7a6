// Milliseconds spent on an item; the clock stops while the page is hidden or paused.

export class Clock {
  constructor() {
    this.paused = false;
    this.start(0);
    document.addEventListener("visibilitychange", () => this.tick());
  }

  start(spent) {
    this.spent = spent;
    this.since = this.runs ? performance.now() : null;
  }

  get runs() {
    return !this.paused && document.visibilityState === "visible";
  }

  tick() {
    if (this.since !== null) this.spent += performance.now() - this.since;
    this.since = this.runs ? performance.now() : null;
  }

  pause(paused) {
    this.tick();
    this.paused = paused;
    this.since = this.runs ? performance.now() : null;
  }

  get ms() {
    this.tick();
    return Math.round(this.spent);
  }
}
