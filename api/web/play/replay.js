// @ts-check
/** A game looked at again, card by card, by anybody's eyes: the server says what each could see, and by which rule. */

import { Refusal, at, bePlayer, call, player } from "./client.js";
import { button, choice, element, fill, link, say, sheet } from "./dom.js";
import { cardOf, HandView } from "./hand.js";
import { Ledger } from "./ledger.js";
import { rememberPractice } from "./memory.js";
import { indexAt, momentsOf, nextIndex, readEvents } from "./moments.js";
import { OpenHands } from "./open-hands.js";
import { Reel } from "./reel.js";
import { Scene } from "./scene.js";
import { scoreMap } from "./score-map.js";
import { cardsOf } from "./shapes.js";
import { stuck } from "./stuck.js";
import { TableView } from "./table.js";
import { ending, tell, waiting, whyNot } from "./telling.js";
import { titleOf } from "./variants.js";
import { capital, cardName, listed, sentences, t } from "./words.js";

/** @typedef {import("./shapes.js").Table & { open?: import("./open-hands.js").Open[] }} Table */
/** @typedef {import("./moments.js").Moment} Moment */

/** Views that are kept. */
const KEPT = 200;
/** Milliseconds for which the slider has to rest before a view is asked for. */
const REST = 60;
const OWN = "";
const OPEN = "open";

export class Replay {
  /** @param {HTMLElement} root @param {string} id @param {URLSearchParams} asked */
  constructor(root, id, asked) {
    this.id = id;
    this.eyes = asked.get("as") ?? (asked.get("open") === "1" ? OPEN : OWN);
    this.wanted = Number(asked.get("at")) || 0;
    this.closed = false;
    this.index = 0;
    /** @type {Moment[]} */
    this.moments = [];
    /** Views that were asked for, by event and eyes. @type {Map<string, Promise<Table>>} */
    this.views = new Map();
    this.view = new TableView();
    this.hand = new HandView({ onCard: (key) => void this.why(cardOf(key)), onLook: () => {} });
    this.open = new OpenHands((seat, card) => void this.why(card, seat));
    this.reel = new Reel({ go: (index, rests) => this.go(index, rests), step: (way, size) => this.step(way, size) });
    this.where = element("p", "where");
    this.says = element("p", "says");
    this.says.setAttribute("role", "status");
    this.map = element("div", "map");
    this.eyesChoice = choice(t("Seen"), "eyes", [[OWN, t("As everybody saw it")]], OWN);
    this.spoil = document.createElement("input");
    this.looks = this.lookRow();
    this.heading = element("h1", "unseen", t("Hearts"));
    this.parts = [this.heading, this.where, this.view.cloth, this.says, this.reel.box, this.hand.box, this.open.box, this.looks, this.map];
    this.box = element("section", "replay", ...this.parts);
    root.append(this.box);
    this.begin();
  }

  close() {
    this.closed = true;
    this.reel.close();
    clearTimeout(this.resting);
  }

  async begin() {
    try {
      const [events, { body }] = await Promise.all([readEvents(this.id), call("GET", at(this.id))]);
      if (this.closed) return;
      this.events = events;
      /** The table as it is now. @type {Table} */
      this.last = body;
      this.moments = momentsOf(events);
      void titleOf(body.variant).then((title) => (document.title = this.heading.textContent = title));
      if (!this.moments.length) {
        this.says.textContent = t("No cards have been dealt yet.");
        return;
      }
      const names = new Scene(body).names;
      fill(this.eyesChoice.select, [[OWN, body.you === undefined ? t("As everybody saw it") : t("As I saw it")], [OPEN, t("All hands open")], ...names.map((name, seat) => /** @type {[string, string]} */ ([String(seat), t("As {name}", { name })]))], this.eyes);
      this.eyes = this.eyesChoice.select.value;
      this.reel.offer(this.moments);
      this.box.dataset.ready = "true";
      await this.go(this.wanted ? indexAt(this.moments, this.wanted) : 0);
    } catch (error) {
      this.box.replaceChildren(stuck(/** @type {Error} */ (error), () => this.anew()));
    }
  }

  /** Begin again where the game could not be had. */
  anew() {
    this.box.replaceChildren(...this.parts);
    void this.begin();
  }

  lookRow() {
    this.eyesChoice.select.addEventListener("change", () => {
      this.eyes = this.eyesChoice.select.value;
      void this.go(this.index);
    });
    this.spoil.type = "checkbox";
    this.spoil.id = "spoil";
    this.spoil.addEventListener("change", () => this.drawMap());
    const label = element("label", "check", this.spoil, t("Show the scores that are to come"));
    const advice = button(t("What would the bot do?"), () => void this.advice());
    const branch = button(t("Play on from here"), () => void this.branch());
    const share = button(t("Copy the link"), () => void this.share(share));
    const check = button(t("Check this game"), () => void this.check());
    Object.assign(check.dataset, { act: "check" });
    this.advises = advice;
    Object.assign(advice.dataset, { act: "advice" });
    Object.assign(branch.dataset, { act: "branch" });
    return element("div", "looks", this.eyesChoice.box, label, advice, branch, share, check, link(`/#/table/${this.id}`, t("The table")));
  }

  /** Check the game's proof file, which is loaded only then. */
  async check() {
    const { last } = this;
    if (!last) return;
    try {
      sheet("/play/fair.css");
      const { showFair } = await import("./fair.js");
      const scene = new Scene(last);
      showFair({ ledger: new Ledger(this.id), scene: () => scene }, true);
    } catch (error) {
      this.failed(error);
    }
  }

  get moment() {
    return this.moments[this.index];
  }

  // --- moving

  /** @param {1 | -1} way @param {import("./moments.js").Size} size */
  step(way, size) {
    return this.go(nextIndex(this.moments, this.index, way, size));
  }

  /** Show a moment; one that the slider only passes by is not asked for. @param {number} index @param {boolean} [passing] */
  async go(index, passing = false) {
    if (!this.moments.length) return;
    this.index = index;
    const where = this.whereWords();
    this.reel.settle(index, where);
    this.where.textContent = where;
    clearTimeout(this.resting);
    if (passing) {
      this.resting = setTimeout(() => void this.go(index), REST);
      return;
    }
    try {
      const { seq } = this.moment;
      const eyes = this.eyes;
      const table = await this.load(seq, eyes);
      if (this.closed || this.moment.seq !== seq || this.eyes !== eyes) return; // moved on meanwhile
      this.show(table);
      history.replaceState(null, "", this.address());
      const next = this.moments[index + 1];
      if (next) this.load(next.seq, eyes).catch(() => {});
    } catch (error) {
      this.failed(error);
    }
  }

  whereWords() {
    const { hand, trick, event } = this.moment;
    if (event.t === "game_ended") return t("The end of the game");
    if (event.t === "hand_scored") return t("Hand {n}: the scores", { n: hand });
    if (event.t === "hand_dealt") return t("Hand {n}: the deal", { n: hand });
    return t("Hand {n}, trick {trick}", { n: hand, trick: event.t === "card_played" ? trick + 1 : Math.max(trick, 1) });
  }

  /** @param {number} seq @param {string} eyes @returns {Promise<Table>} */
  load(seq, eyes) {
    const key = `${seq}|${eyes}`;
    const known = this.views.get(key);
    if (known) return known;
    const query = eyes === OWN ? "" : eyes === OPEN ? "&open=1" : `&as=${encodeURIComponent(eyes)}`;
    const asked = call("GET", at(this.id, `?at=${seq}${query}`)).then(({ body }) => body);
    asked.catch(() => this.views.delete(key));
    this.views.set(key, asked);
    const oldest = this.views.keys().next().value;
    if (this.views.size > KEPT && oldest !== undefined) this.views.delete(oldest);
    return asked;
  }

  address() {
    const eyes = this.eyes === OWN ? "" : this.eyes === OPEN ? "&open=1" : `&as=${this.eyes}`;
    return `#/replay/${encodeURIComponent(this.id)}?at=${this.moment.seq}${eyes}`;
  }

  // --- showing

  /** @param {Table} table */
  show(table) {
    const { event, seq } = this.moment;
    const scene = new Scene(table);
    this.scene = scene;
    if (event.t === "hand_scored") scene.gained = event.points ?? null;
    this.view.render(scene, false);
    const mine = table.you !== undefined && this.eyes !== OPEN;
    const legal = mine && table.legal ? cardsOf(table.legal) : null;
    const given = table.phase === "pass" ? cardsOf(table.given) : [];
    this.hand.render({ cards: mine ? cardsOf(table.hand) : [], legal, passing: false, raised: new Set(), fresh: [], hint: [], given });
    this.hand.box.hidden = !mine || !table.hand;
    this.open.render(scene, table.open ?? []);
    this.drawMap();
    const words = event.t === "game_ended" ? capital(ending(scene)) : tell(scene, event);
    this.says.textContent = words;
    this.advises?.setAttribute("aria-disabled", String(table.turn === null && table.phase !== "pass"));
    Object.assign(this.box.dataset, { seq: String(seq), eyes: this.eyes, phase: table.phase });
  }

  drawMap() {
    if (!this.scene || !this.last) return;
    const all = this.spoil.checked ? this.last.hands : this.scene.table.hands;
    const { hand, trick, event } = this.moment;
    const tricks = this.moments.filter((one) => one.hand === hand && one.event.t === "trick_ended").length || 1;
    const done = ["hand_scored", "game_ended"].includes(event.t) ? hand : hand - 1 + trick / (tricks + 1);
    this.map.replaceChildren(scoreMap(all.map((one) => one.totals), this.scene.names, done, (to) => void this.toHand(to)));
  }

  /** @param {number} hand */
  toHand(hand) {
    const found = this.moments.findIndex((one) => one.hand === hand && one.event.t === "hand_dealt");
    if (found >= 0) return this.go(found);
  }

  // --- asking

  /** Why a card may or may not be played or passed at this moment. @param {string} card @param {number} [seat] */
  async why(card, seat) {
    try {
      const { table } = this.scene ?? {};
      if (table && (seat ?? table.you) !== table.turn && table.phase === "play") {
        this.tell(waiting(/** @type {Scene} */ (this.scene)) || t("Nobody is to play now."));
        return;
      }
      const passer = this.scene?.table.phase === "pass" ? seat ?? this.scene.you : undefined;
      const { body } = await call("GET", at(this.id, `/why?card=${card}&at=${this.moment.seq}${passer === undefined ? "" : `&seat=${passer}`}`));
      const name = this.scene?.names[body.seat] ?? "";
      const verdict = body.allowed ? t("{name} may play the {card}.", { name, card: cardName(card) }) : t("{name} may not play the {card}.", { name, card: cardName(card) });
      const why = body.allowed || !this.scene ? "" : whyNot(this.scene, body.rule);
      this.tell(sentences([verdict, why || body.detail]));
    } catch (error) {
      this.failed(error);
    }
  }

  /** What the house bot would do here, beside what was done. */
  async advice() {
    if (this.advises?.getAttribute("aria-disabled") === "true") {
      this.tell(t("Nobody is to play now."));
      return;
    }
    try {
      const seat = this.scene?.table.phase === "pass" ? this.scene.you ?? 0 : undefined;
      const { body } = await call("GET", at(this.id, `/advice?at=${this.moment.seq}${seat === undefined ? "" : `&seat=${seat}`}`));
      this.tell([this.adviceWords(body), this.whatFollowed(body)].filter(Boolean).join(" "));
    } catch (error) {
      this.failed(error);
    }
  }

  /** @param {any} body */
  adviceWords(body) {
    const name = this.scene?.names[body.seat] ?? "";
    if (body.play) return t("In the place of {name} the bot would play the {card}.", { name, card: cardName(body.play) });
    if (body.pass) return t("In the place of {name} the bot would pass {cards}.", { name, cards: listed(body.pass.map(cardName)) });
    return body.moon === "add" ? t("The bot would give the points to the others.") : t("The bot would take the points off its own total.");
  }

  /** @param {any} body */
  whatFollowed(body) {
    const next = (this.events ?? []).find((one) => one.n > this.moment.seq && one.t === "card_played");
    if (!body.play || !next) return "";
    return next.card === body.play ? t("So it was played.") : t("{name} played the {card}.", { name: this.scene?.names[next.seat ?? 0] ?? "", card: cardName(next.card ?? "") });
  }

  async branch() {
    const { scene } = this;
    if (!scene) return;
    const seat = scene.you ?? scene.table.turn ?? 0;
    try {
      await bePlayer(player()?.name || t("Player"));
      const { body } = await call("POST", at(this.id, "/branch"), { at: this.moment.seq, seat });
      rememberPractice(body.id);
      location.hash = `#/table/${body.id}`;
    } catch (error) {
      this.failed(error);
    }
  }

  /** @param {HTMLElement} by */
  async share(by) {
    try {
      await navigator.clipboard.writeText(location.href);
      by.textContent = t("Copied");
    } catch {
      prompt(t("The link to this moment"), location.href);
    }
  }

  /** @param {string} words */
  tell(words) {
    this.says.textContent = words;
    say(words);
  }

  /** @param {unknown} error */
  failed(error) {
    this.reel.stop();
    this.tell(sentences([/** @type {Error} */ (error).message, error instanceof Refusal ? error.hint : ""]));
  }
}
