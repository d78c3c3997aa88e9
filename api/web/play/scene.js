// @ts-check
/**
 * A table as it is shown. The server's own view is the truth and is taken over whenever the page has caught up with it;
 * between two of them the events say what has been laid and taken, and nothing here judges or counts by the rules.
 */

import { cardsOf } from "./shapes.js";
import { t } from "./words.js";

/** @typedef {import("./shapes.js").Table} Table */
/** @typedef {import("./shapes.js").Laid} Laid */
/** @typedef {import("./shapes.js").GameEvent} GameEvent */

/** What house bots are called at the table, where the server knows them by their kind alone. */
const BOT_NAMES = ["Bo", "Cleo", "Dag", "Eva", "Finn", "Greta", "Hal", "Iris", "Jon", "Kaja", "Lars"];

export class Scene {
  /** @param {Table} table */
  constructor(table) {
    this.table = table;
    /** Events that are shown. */
    this.seq = table.seq;
    /** The full trick that still lies there, until the next card. @type {{ laid: Laid[], winner: number | null } | null} */
    this.finished = null;
    /** Points of the hand that was scored last, while the next one has not begun. @type {number[] | null} */
    this.gained = null;
    /** The reader's card that lies there by the answer to its move, before its event is told. */
    this.ahead = "";
    this.names = namesOf(table);
    this.showLast();
  }

  get you() {
    return this.table.you;
  }

  /** Whether this browser's player is to act by itself now. */
  get isMine() {
    const { table, you } = this;
    return you !== undefined && !table.seats[you].away;
  }

  /** Whether the table waits for this browser's player, whoever else it waits for. */
  get isCalled() {
    const { table, you, isMine } = this;
    if (!isMine || you === undefined) return false;
    if (table.phase === "pass") return !table.seats[you].passed;
    return table.phase === "moon" ? table.turn === you : Boolean(table.legal);
  }

  /** What the player is called to do and by which cards: the same for as long as it is the same call. */
  get moment() {
    const { table } = this;
    return [table.phase, table.hand_number, table.hand, this.isMine, table.legal].join();
  }

  /** After a reload the last trick lies there again, until the next card is led. */
  showLast() {
    const { trick, last_trick: laid, last_winner: winner, phase } = this.table;
    if (phase === "play" && !trick.length && laid.length) this.finished = { laid, winner };
  }

  /** Take over the server's view. @param {Table} table */
  settle(table) {
    this.table = table;
    this.ahead = "";
    this.seq = Math.max(this.seq, table.seq);
    this.names = namesOf(table);
    if (table.trick.length) this.finished = null;
  }

  /** What lies on the table. @returns {Laid[]} */
  get laid() {
    return this.finished ? this.finished.laid : this.table.trick;
  }

  /** Those of some cards that are worth points, as the server names them. @param {Laid[]} laid */
  counting(laid) {
    const all = cardsOf(this.table.counting);
    return laid.map((one) => one.card).filter((card) => all.includes(card));
  }

  /** Lay the reader's card, which the server has taken, and whose event comes later. @param {string} card */
  layAhead(card) {
    const { you } = this;
    if (you === undefined) return;
    this.ahead = card;
    this.table = this.moved();
    this.lay(this.table, { seat: you, card });
  }

  /** A copy of the table to be changed, at which it is nobody's turn until the server says whose. @returns {Table} */
  moved() {
    return { ...this.table, seats: this.table.seats.map((one) => ({ ...one })), turn: null, legal: undefined, claim: undefined };
  }

  /** Show what an event tells. @param {GameEvent} event @param {Record<string, string>} own what it tells this seat alone */
  follow(event, own) {
    const table = this.moved();
    this.table = table;
    const seat = typeof event.seat === "number" ? table.seats[event.seat] : null;
    switch (event.t) {
      case "hand_dealt":
        Object.assign(table, { phase: "play", hand_number: event.hand, trick: [], last_trick: [], last_winner: null, hearts_broken: false, hand: own.cards, received: "", given: "" });
        for (const one of table.seats) Object.assign(one, { cards: table.rules.hand, taken: 0, passed: false, won: "" });
        this.finished = null;
        break;
      case "cards_passed":
        if (seat) seat.passed = true;
        break;
      case "passes_exchanged":
        this.gained = null;
        table.received = own.received;
        break;
      case "card_played":
        if (event.seat !== this.you || event.card !== this.ahead) this.lay(table, /** @type {Laid} */ (/** @type {unknown} */ (event)));
        this.ahead = "";
        break;
      case "trick_ended":
        this.finished = { laid: table.trick, winner: event.seat ?? null };
        if (seat) {
          seat.taken += 1;
          // who gets the cards of a dead trick is the server's to say
          seat.won = [...cardsOf(seat.won), ...this.counting(table.trick)].join(" ");
        }
        Object.assign(table, { last_trick: table.trick, last_winner: event.seat ?? null, trick: [] });
        break;
      case "seat_to_bot":
        if (seat) seat.away = true;
        break;
      case "hand_scored":
        this.gained = event.points ?? null;
        table.totals = event.totals ?? table.totals;
        table.hands = [...table.hands, { hand: table.hand_number, points: event.points ?? [], totals: table.totals }];
    }
  }

  /** @param {Table} table @param {Laid} laid */
  lay(table, { seat, card }) {
    this.finished = null;
    if (table.trick.length === 0 && this.gained && table.seats.every((one) => one.taken === 0)) this.gained = null;
    table.trick = [...table.trick, { seat, card }];
    table.seats[seat].cards -= 1;
    if (seat !== table.you) return;
    const hand = cardsOf(table.hand);
    const at = hand.indexOf(card);
    if (at >= 0) hand.splice(at, 1);
    table.hand = hand.join(" ");
  }

  /** The name of a seat in a sentence. @param {number} seat */
  who(seat) {
    return seat === this.you ? t("you") : this.names[seat];
  }
}

/** What each seat is called: players by their names, bots by names of ours, all different. @param {Table} table */
function namesOf({ seats, you }) {
  const taken = new Set(seats.filter((one) => one.kind === "player").map((one) => one.name.toLowerCase()));
  const spare = BOT_NAMES.filter((name) => !taken.has(name.toLowerCase()));
  /** @type {string[]} */
  const names = [];
  for (const { seat, kind, name } of seats) {
    let shown = kind === "bot" ? spare.shift() ?? name : kind === "open" ? t("open") : name || t("seat {n}", { n: seat + 1 });
    if (kind === "player" && seat !== you && names.includes(shown)) shown = `${shown} ${seat + 1}`;
    names.push(shown);
  }
  return names;
}
