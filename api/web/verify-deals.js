// @ts-check
/** Claim F of a proof: the deals were fixed before play and not chosen by the server (docs/spec/audit.md, 1 to 5). */

import {
  commitCards, commitEntropy, dealCards, dealSeed, entropyRoot, formatCards, fullDeck, hashFromHex, hidingKey, linkBefore, macKey, parseCards, toHex,
} from "./verify-formulas.js";
import { NO_LEVEL, fairnessLevel, sealedLevel } from "./verify-levels.js";
import { Failed } from "./verify-reading.js";
import { readRules } from "./verify-shapes.js";

/** @typedef {import("./verify-formulas.js").Bytes} Bytes */
/** @typedef {import("./verify-formulas.js").Opening} Opening */

const MOST_HANDS = 4096;
const READY_SECONDS = [15, 3600];

/** Every choice of `count` of the cards, in their order. @param {number[]} cards @param {number} count @returns {Generator<number[]>} */
function* combinations(cards, count) {
  if (count === 0) {
    yield [];
    return;
  }
  for (let at = 0; at + count <= cards.length; at++) {
    for (const rest of combinations(cards.slice(at + 1), count - 1)) yield [cards[at], ...rest];
  }
}

/** @param {Bytes} secret @param {string} who @param {string} what @param {string} cards */
async function commitment(secret, who, what, cards) {
  return toHex(await commitCards(await hidingKey(secret, who, what), cards));
}

/** Checks commitments, openings, the lock, and every revealed deal of a game. */
export class FairnessCheck {
  /** @param {any[]} events all of a game, the first one its `game_created` */
  constructor(events) {
    this.events = events;
    this.number = 1;
    this.first = events[0];
    this.rules = readRules(this.first.rules).rules;
    this.deck = fullDeck(this.rules.decks, parseCards(this.rules.removed) ?? []);
    /** @type {Map<number, any>} */
    this.seats = new Map();
    /** @type {Map<number, string>} */
    this.openings = new Map();
    /** @type {Bytes | null} */
    this.root = null;
    /** The last revealed link of the seed chain, the anchor at first. */
    this.link = "";
    /** The group of a duplicate table, whose id stands for the game's where cards are dealt. @type {string | undefined} */
    this.group = this.first.deal_group;
    this.name = this.group ?? this.first.game;
    /** Hands of a duplicate table that were not revealed yet. @type {{ dealt: any, passed: Map<number, string | null>, broken: boolean }[]} */
    this.sealed = [];
    this.readyAt = 0; // when the first entropy was opened, in ms
    /** Seats that opened something when the time for it was over, which a house no longer lets them. @type {number[]} */
    this.late = [];
    /** @type {any} */
    this.dealt = null;
    /** @type {Map<number, string | null>} */
    this.passed = new Map();
    this.hands = 0;
    this.judged = false; // whether the game commits to its deals
  }

  /** How far the claim holds. Throws `Failed`. @param {string} why why nothing can be shown, "" where it can @returns {Promise<["holds" | "not shown", string]>} */
  async run(why) {
    const { first } = this;
    if (first.branch !== undefined) {
      this.practice();
      return ["not shown", why];
    }
    if (first.anchor === null) {
      if (!why) this.fail("there is no anchor, and the game was not imported");
      return ["not shown", why];
    }
    if (first.chain < 1 || first.chain > MOST_HANDS) this.fail(`a seed chain has 1 to ${MOST_HANDS} links`);
    this.link = toHex(this.hash(first.anchor));
    const limit = this.rules.hand_limit;
    if (limit === null || limit > first.chain) this.fail("the rules allow more hands than the seed chain has secrets");
    const [low, high] = READY_SECONDS;
    if (first.ready_seconds < low || first.ready_seconds > high) this.fail(`the time to get ready is not ${low} to ${high} seconds`);
    this.judged = true;
    for (const [at, event] of this.events.entries()) {
      this.number = at + 1;
      await this.check(event);
    }
    return this.result();
  }

  /** A practice table commits to nothing. */
  practice() {
    if (this.first.anchor !== null) this.fail("a practice table has no anchor");
    for (const [at, event] of this.events.entries()) {
      this.number = at + 1;
      /** @type {any[]} */
      let hidden = [];
      if (event.t === "hand_dealt") hidden = [...event.hands, event.kitty];
      if (event.t === "cards_passed") hidden = [event.cards];
      if (["hand_scored", "hands_revealed", "game_ended"].includes(event.t)) hidden = [event.secret];
      if (hidden.some((one) => one !== null)) this.fail("a practice table has no commitments and secrets");
    }
  }

  /** @returns {["holds" | "not shown", string]} */
  result() {
    if (this.sealed.length) return ["not shown", this.sealedWords()];
    if (this.hands === 0) return ["not shown", "no hand is over yet"];
    const seats = [...this.openings.keys()].filter((seat) => this.openings.get(seat)).sort((one, other) => one - other);
    if (seats.length === 0) return ["not shown", "no seat contributed, so the server alone decided the deals"];
    const late = this.late.sort((one, other) => one - other);
    const openedLate = late.length ? `; seat${late.length > 1 ? "s" : ""} ${late.join(", ")} opened late` : "";
    return ["holds", `for seats ${seats.join(", ")}, which contributed to the deals${openedLate}`];
  }

  /** How far that is. */
  level() {
    if (!this.judged) return NO_LEVEL;
    if (this.sealed.length) return sealedLevel(2);
    const persons = [...this.seats.keys()].filter((seat) => this.seats.get(seat).kind === "player").sort((one, other) => one - other);
    return fairnessLevel(persons, persons.filter((seat) => this.openings.get(seat)), this.hands);
  }

  sealedWords() {
    const hands = this.sealed.map(({ dealt }) => dealt.hand);
    const [told, them] = hands.length === 1 ? ["hand", "it"] : ["hands", "them"];
    return `the cards of ${told} ${hands.join(", ")} are sealed until every table of group ${this.name.slice(0, 64)} has finished ${them}`;
  }

  /** @param {string} why @returns {never} */
  fail(why) {
    throw new Failed(this.number, why);
  }

  /** @param {unknown} text */
  hash(text) {
    return hashFromHex(text) ?? this.fail("a hash or secret is not 32 bytes in lower-case hex");
  }

  /** @param {any} event */
  async check(event) {
    switch (event.t) {
      case "seat_taken":
        return this.seatTaken(event);
      case "seat_left":
        if (this.openings.size || this.root) this.fail("a seat changed after the first opening");
        this.seats.delete(event.seat);
        return;
      case "seat_ready":
        return this.ready(event);
      case "game_locked":
        return this.locked(event);
      case "hand_dealt":
        if (!this.root) this.fail("a hand was dealt before the players' entropy was frozen");
        if (this.dealt) this.fail("the hand before it was never revealed");
        this.dealt = event;
        this.passed.clear();
        return;
      case "cards_passed":
        this.passed.set(event.seat, event.cards);
        return;
      case "hand_scored":
        return this.scored(event);
      case "hands_revealed":
        return this.revealed(event);
      case "game_ended":
        return this.ended(event);
    }
  }

  /** @param {any} event */
  seatTaken(event) {
    if (this.openings.size || this.root) this.fail("a seat was taken after the first opening");
    if (this.seats.has(event.seat)) this.fail("the seat was taken already");
    const commit = event.entropy_commit;
    if (event.kind === "bot" && commit !== null) this.fail("a house bot contributes nothing");
    if (commit !== null && [...this.seats.values()].some((seat) => seat.entropy_commit === commit)) this.fail("the commitment is at the table already");
    this.seats.set(event.seat, event);
  }

  /** @param {any} event */
  async ready(event) {
    if (this.root) this.fail("it was opened after the lock");
    const seat = this.seats.get(event.seat);
    if (seat === undefined || seat.kind !== "player" || this.openings.has(event.seat)) this.fail("this seat has nothing to open");
    if (seat.entropy_commit === null) {
      if (event.entropy) this.fail("it opens a commitment that was never made");
    } else if (toHex(await commitEntropy(this.hash(event.entropy))) !== seat.entropy_commit) {
      this.fail("it does not open the seat's commitment");
    }
    if (this.seats.size !== this.rules.players) this.fail("a seat was still open");
    if (this.openings.size === 0) this.readyAt = event.at;
    else if (event.entropy && event.at >= this.readyAt + this.first.ready_seconds * 1000) this.late.push(event.seat);
    this.openings.set(event.seat, event.entropy);
  }

  /** @param {any} event */
  async locked(event) {
    if (this.root) this.fail("the entropy was frozen before");
    const order = [...this.seats.keys()].sort((one, other) => one - other);
    /** @type {Opening[]} */
    const right = order.map((seat) => [seat, this.seats.get(seat).kind, this.openings.get(seat) ?? ""]);
    if (right.length !== this.rules.players || JSON.stringify(event.entropy) !== JSON.stringify(right)) this.fail("the frozen entropy is not what the seats opened");
    const late = right.some(([seat, kind]) => kind === "player" && !this.openings.has(seat));
    const time = this.readyAt + this.first.ready_seconds * 1000;
    if (late && (this.openings.size === 0 || event.at < time)) this.fail("a seat was locked out before its time to get ready was over");
    this.root = await entropyRoot(this.name, right);
    if (event.root !== toHex(this.root)) this.fail("the root is not the hash of the openings");
  }

  /** @param {unknown} text */
  async reveal(text) {
    const secret = this.hash(text);
    if (toHex(await linkBefore(secret)) !== this.link) this.fail("the secret is not the next link of the chain that the anchor commits to");
    this.link = toHex(secret);
    return secret;
  }

  /** @param {any} event */
  async scored(event) {
    if (this.dealt === null || this.dealt.hand !== event.hand) this.fail("no such hand was dealt");
    if (this.group !== undefined) {
      this.seal(event, false);
      return;
    }
    const secret = await this.reveal(event.secret);
    const { deal, kitty } = await this.openDeal(secret);
    if (JSON.stringify(event.deal) !== JSON.stringify(deal) || event.kitty !== kitty) this.fail("the deal does not follow from the secret and the players' entropy");
    await this.checkPasses(event.passes, secret);
    this.dealt = null;
    this.hands += 1;
  }

  /** @param {string[] | null} passes @param {Bytes} secret */
  async checkPasses(passes, secret) {
    for (const [seat, text] of (passes ?? []).entries()) {
      if (this.passed.get(seat) !== (await commitment(secret, String(seat), "pass", text))) this.fail(`the commitment to the pass of seat ${seat} does not open`);
    }
  }

  /** Keeps a hand of a duplicate table for its reveal. @param {any} event @param {boolean} broken whether the end of the game broke it off */
  seal(event, broken) {
    const cards = broken ? [] : [event.deal, event.kitty, event.passes];
    if ([event.secret, ...cards].some((one) => one !== null) || event.pass_signatures !== undefined) {
      this.fail("the cards of a duplicate table are sealed until hands_revealed");
    }
    this.sealed.push({ dealt: this.dealt, passed: new Map(this.passed), broken });
    this.dealt = null;
  }

  /** @param {any} event */
  async revealed(event) {
    const [next] = this.sealed;
    if (next === undefined || next.dealt.hand !== event.hand) this.fail("no such hand is the next to be revealed");
    this.sealed.shift();
    const inPlay = { dealt: this.dealt, passed: this.passed };
    Object.assign(this, { dealt: next.dealt, passed: next.passed });
    const secret = await this.reveal(event.secret);
    const { deal, kitty } = await this.openDeal(secret);
    if (JSON.stringify(event.deal) !== JSON.stringify(deal) || event.kitty !== kitty) this.fail("the deal does not follow from the secret and the players' entropy");
    if (next.broken) {
      const passes = await this.openPasses(deal, secret);
      if (JSON.stringify(event.passes) !== JSON.stringify(passes.length === deal.length ? passes : null)) this.fail("the passes are not those that were committed to");
    } else {
      await this.checkPasses(event.passes, secret);
    }
    this.hands += 1;
    Object.assign(this, inPlay);
  }

  /** The hands and the kitty that follow from the secret, which the commitments must be to. @param {Bytes} secret */
  async openDeal(secret) {
    const { players, hand } = this.rules;
    const seed = await dealSeed(secret, this.name, this.dealt.hand, /** @type {Bytes} */ (this.root));
    const dealt = await dealCards(this.deck, players, hand, seed);
    const deal = dealt.hands.map(formatCards);
    const kitty = formatCards(dealt.kitty);
    for (const [seat, text] of deal.entries()) {
      if (this.dealt.hands[seat] !== (await commitment(secret, String(seat), "hand", text))) this.fail(`the commitment to the hand of seat ${seat} does not open`);
    }
    if (this.dealt.hands.length !== deal.length) this.fail("there is a commitment too many");
    const hidden = kitty ? await commitment(secret, "kitty", "kitty", kitty) : null;
    if (this.dealt.kitty !== hidden) this.fail("the commitment to the kitty does not open");
    return { deal, kitty };
  }

  /** @param {any} event */
  async ended(event) {
    if (this.dealt === null) {
      if (event.secret !== null) this.fail("every hand was revealed already");
      return;
    }
    if (this.group !== undefined) {
      this.seal(event, true);
      return;
    }
    if (event.secret === null) this.fail("the secret of the hand that was broken off is not revealed");
    const secret = await this.reveal(event.secret);
    const { deal } = await this.openDeal(secret);
    await this.openPasses(deal, secret);
    this.dealt = null;
    this.hands += 1;
  }

  /** What the seats passed that did, in order. @param {string[]} deal @param {Bytes} secret */
  async openPasses(deal, secret) {
    const passes = [];
    for (const seat of [...this.passed.keys()].sort((one, other) => one - other)) passes.push(await this.openPass(seat, deal, secret));
    return passes;
  }

  /** The end of a game does not name the passes of the hand that it breaks off, so all of a seat's hand are tried. @param {number} seat @param {string[]} deal @param {Bytes} secret */
  async openPass(seat, deal, secret) {
    if (seat < 0 || seat >= deal.length) this.fail(`there is no seat ${seat} that could have passed`);
    const key = await macKey(await hidingKey(secret, String(seat), "pass"));
    for (const cards of combinations(parseCards(deal[seat]) ?? [], this.rules.pass_count)) {
      const text = formatCards(cards);
      if (toHex(await commitCards(key, text)) === this.passed.get(seat)) return text;
    }
    return this.fail(`the commitment to the pass of seat ${seat} opens to no cards of its hand`);
  }
}
