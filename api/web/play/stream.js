// @ts-check
/** The events of a table as they happen, through broken connections: server-sent events, read by `fetch` for the token's sake. */

import { TROUBLE, at, credentials } from "./client.js";

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 8000;
/** Milliseconds without a sign of life, of which the server gives one every 15 seconds. */
const SILENCE = 40_000;

/** @typedef {"connecting" | "live" | "lost" | "ended"} Connection */

/** A table's stream from an event on. */
export class Stream {
  /** @param {string} game @param {number} after @param {(item: import("./shapes.js").Item) => void} onItem @param {(now: Connection) => void} onState */
  constructor(game, after, onItem, onState) {
    this.game = game;
    this.cursor = after;
    this.onItem = onItem;
    this.onState = onState;
    this.stopped = false;
    this.failed = 0;
    this.abort = new AbortController();
    /** @type {() => void} */
    this.wake = () => {};
    this.hurry = () => {
      this.failed = 0;
      this.wake();
    };
    /** A connection that is gone may look open for long. */
    this.doubt = () => this.abort.abort();
    addEventListener("online", this.hurry);
    addEventListener("offline", this.doubt);
    addEventListener(TROUBLE, this.doubt);
    this.run();
  }

  /** Read no more. */
  stop() {
    this.stopped = true;
    removeEventListener("online", this.hurry);
    removeEventListener("offline", this.doubt);
    removeEventListener(TROUBLE, this.doubt);
    this.abort.abort();
    this.wake();
  }

  async run() {
    this.onState("connecting");
    while (!this.stopped) {
      const ended = await this.readOnce().catch(() => false);
      if (this.stopped) return;
      if (ended) {
        this.onState("ended");
        return;
      }
      this.onState("lost");
      await this.pause();
    }
  }

  /** Wait before the next try: longer each time, less by chance so that not all browsers come back at once. */
  async pause() {
    const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.failed++);
    await new Promise((done) => {
      const timer = setTimeout(done, longest * (1 - Math.random() / 2));
      this.wake = () => {
        clearTimeout(timer);
        done(null);
      };
    });
  }

  /** Follow one connection to its end; whether there is nothing more to come. */
  async readOnce() {
    this.abort = new AbortController();
    let watch = setTimeout(() => this.abort.abort(), SILENCE);
    try {
      const headers = { Accept: "text/event-stream", ...credentials() };
      const answer = await fetch(at(this.game, `/events?after=${this.cursor}`), { headers, signal: this.abort.signal, cache: "no-store" });
      if (answer.status === 204 || answer.status === 404) return true;
      if (!answer.ok || !answer.body) return false;
      this.onState("live");
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return false;
        clearTimeout(watch);
        watch = setTimeout(() => this.abort.abort(), SILENCE);
        this.failed = 0;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) this.take(part);
      }
    } finally {
      clearTimeout(watch);
      this.abort.abort();
    }
  }

  /** One event of the stream; a comment is none. @param {string} part */
  take(part) {
    /** @type {Record<string, string>} */
    const fields = {};
    for (const line of part.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
    }
    if (!fields.data || fields.event === "problem") return; // after a problem the stream ends, and is opened again
    const item = JSON.parse(fields.data);
    this.cursor = item.seq;
    this.onItem(item);
  }
}
