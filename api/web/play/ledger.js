// @ts-check
/** How the deals of a game come about, as its public events tell it: who committed to a number, who opened it, what is fixed. */

import { at, call } from "./client.js";
import { keep, keptOf } from "./kept.js";
import { shareOf } from "./share.js";
import { Witness } from "./witness.js";

/** @typedef {import("./shapes.js").Item} Item */
/** @typedef {any} Told an event of docs/spec/audit.md, as it is stored */
/** What a seat throws in: `commit` "" where it committed to nothing, `opened` null until it has. @typedef {{ kind: "open" | "player" | "bot", commit: string, opened: string | null }} Part */

export class Ledger {
  /** @param {string} game @param {(warning: string) => void} [warn] told what the server does wrong @param {() => void} [changed] */
  constructor(game, warn = () => {}, changed = () => {}) {
    this.game = game;
    this.changed = changed;
    this.seq = 0;
    /** By seat. @type {Part[]} */
    this.parts = [];
    /** What the server has committed to, "" at a table whose deals are not fixed so. */
    this.anchor = "";
    this.chain = 0;
    this.serverKey = "";
    /** What each seat opened in time, by seat, once the deals are fixed. @type {string[] | null} */
    this.locked = null;
    this.scored = 0;
    this.witness = new Witness(game, warn);
  }

  /** Take an event; one that is known already, or that does not come next, is none. @param {Item} item */
  see(item) {
    if (item.seq !== this.seq + 1) return;
    this.seq = item.seq;
    const event = JSON.parse(item.event);
    this.follow(event);
    this.witness.see(item, event);
    this.changed();
  }

  /** Ask for the events up to one, or for all that there are. @param {number} [to] */
  async catchUp(to = Infinity) {
    while (this.seq < to) {
      const { body } = await call("GET", at(this.game, `/events?after=${this.seq}`));
      for (const item of body.events) this.see(item);
      if (!body.events.length) break;
    }
    await this.witness.settle();
  }

  /** @param {Told} event */
  follow(event) {
    const { seat } = event;
    switch (event.t) {
      case "game_created":
        Object.assign(this, { anchor: event.anchor ?? "", chain: event.chain ?? 0, serverKey: event.server_key });
        this.parts = Array.from({ length: event.rules.players }, () => this.free());
        break;
      case "seat_taken":
        this.parts[seat] = { kind: event.kind, commit: event.entropy_commit ?? "", opened: null };
        // the answer that would have told the game may have been lost
        if (keptOf(this.game).seat === null && event.entropy_commit && shareOf(event.entropy_commit)) keep(this.game, () => ({ seat, commit: event.entropy_commit }));
        break;
      case "seat_left":
        if (keptOf(this.game).commit === this.parts[seat].commit) keep(this.game, () => ({ seat: null, commit: "" }));
        this.parts[seat] = this.free();
        break;
      case "seat_ready":
        this.parts[seat].opened = event.entropy;
        break;
      case "game_locked":
        this.locked = event.entropy.map((/** @type {[number, string, string]} */ one) => one[2]);
        break;
      case "hand_scored":
        this.scored += 1;
    }
  }

  /** @returns {Part} */
  free() {
    return { kind: "open", commit: "", opened: null };
  }

  /** Whether a seat committed to a number that this browser does not have. @param {number | undefined} seat */
  isLost(seat) {
    const part = this.parts[seat ?? -1];
    return Boolean(part?.commit) && part.opened === null && !this.locked && !shareOf(part.commit);
  }
}
