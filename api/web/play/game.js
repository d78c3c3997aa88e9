// @ts-check
/** A table in the browser: follows its events one after the other, shows them, and sends what the player does. */

import { Acts } from "./acts.js";
import { Refusal, TROUBLE, at, call } from "./client.js";
import { byId, element, say } from "./dom.js";
import { HandView } from "./hand.js";
import { listen } from "./keyboard.js";
import { skip, speed, stand } from "./pace.js";
import { Ledger } from "./ledger.js";
import { Scene } from "./scene.js";
import { showScores } from "./score.js";
import { cardsOf } from "./shapes.js";
import { Stream } from "./stream.js";
import { stuck } from "./stuck.js";
import { TableView } from "./table.js";
import { ending, lastTrick, tell, wholeTable } from "./telling.js";
import { askParts, toolRow } from "./tools.js";
import { titleOf } from "./variants.js";
import { cardSign, counted, handInWords, sentences, t } from "./words.js";

/** @typedef {import("./shapes.js").Item} Item */
/** @typedef {import("./shapes.js").GameEvent} GameEvent */

/** So many events behind, the page does not show them one by one any more. */
const TOO_MANY = 60;
/** Seconds before the deal in which the player's number is opened for it. */
const OPEN_BEFORE = 15;
/** Milliseconds between two tries of that. */
const PATIENCE = 3000;

export class Game {
  /** @param {HTMLElement} root @param {string} id @param {string} invitation */
  constructor(root, id, invitation) {
    this.id = id;
    this.invitation = invitation;
    /** @type {Item[]} */
    this.queue = [];
    this.closed = false;
    this.pumping = false;
    /** The player has acted on what comes before this event, so it is shown without a pause. */
    this.hurryTo = 0;
    /** The moment that the player was called to act in last. */
    this.called = "";
    this.peek = false;
    /** What was said before the last trick was looked at again. */
    this.before = "";
    this.acts = new Acts(this);
    /** What is shown of the deals, while it is. @type {{ refresh(): void } | null} */
    this.shown = null;
    this.ledger = new Ledger(id, (warning) => this.tell(warning), () => this.shown?.refresh());
    /** When what could not be opened is tried again. */
    this.tryAgain = 0;
    this.skew = 0;
    /** Whether the server has left something without an answer, and has not been heard since. */
    this.unheard = false;
    this.view = new TableView();
    this.hand = new HandView({ onCard: (key) => this.acts.press(key), onLook: (key) => this.acts.look(key) });
    this.tools = toolRow(this.acts);
    this.says = element("p", "says");
    this.ask = element("div", "ask");
    this.clock = element("span", "clock");
    this.view.cloth.addEventListener("click", () => skip());
    this.heading = element("h1", "unseen", t("Hearts"));
    this.parts = [this.heading, this.tools.row, this.view.cloth, this.says, this.ask, this.hand.box];
    this.box = element("section", "game", ...this.parts);
    root.append(this.box);
    this.ticking = setInterval(() => this.tick(), 500);
    this.deafen = listen({ ...this.keys(), find: (rank, suit) => void this.hand.find(rank, suit), move: (steps) => this.hand.move(steps) });
    this.trouble = () => this.unanswered();
    addEventListener(TROUBLE, this.trouble);
    this.open();
  }

  /** A call got no answer, and is made again. */
  unanswered() {
    if (!this.scene || this.unheard) return;
    this.unheard = true;
    this.tell(t("The server does not answer; what you have done is sent again."));
  }

  keys() {
    return {
      onward: () => skip(),
      pass: () => void this.acts.pass(),
      readHand: () => this.tell(this.scene?.table.hand ? handInWords(cardsOf(this.scene.table.hand)) : t("You have no cards.")),
      readTable: () => this.scene && this.tell(wholeTable(this.scene)),
      last: () => this.last(),
      scores: () => this.scores(),
      hint: () => void this.acts.hint(),
      rules: () => this.acts.rules(),
      claim: () => void this.acts.claim(),
      fair: () => void this.acts.fair(),
    };
  }

  /** @returns {void} */
  close() {
    this.closed = true;
    this.stream?.stop();
    clearInterval(this.ticking);
    removeEventListener(TROUBLE, this.trouble);
    this.deafen();
    skip();
    byId("pill", HTMLElement).hidden = true;
  }

  // --- following

  async open() {
    try {
      const table = await this.load();
      if (this.closed) return;
      this.stream?.stop();
      this.queue = [];
      if (!this.scene) this.box.replaceChildren(...this.parts);
      /** @type {Scene | undefined} */
      this.scene = new Scene(table);
      void titleOf(table.variant).then((title) => (document.title = this.heading.textContent = title));
      this.render();
      this.stream = new Stream(this.id, table.seq, (item) => this.hear(item), (now) => this.connection(now));
      this.awake();
      // what was told before is the ledger's alone, and keeps nobody from playing
      this.ledger.catchUp().then(() => this.render(), () => {});
    } catch (error) {
      this.failed(error);
    }
  }

  /** @returns {Promise<import("./shapes.js").Table>} */
  async load() {
    const { body, headers } = await call("GET", at(this.id));
    const date = Date.parse(headers.get("Date") ?? "");
    if (date) this.skew = date - Date.now();
    return body;
  }

  /** @param {import("./stream.js").Connection} now */
  connection(now) {
    if (this.closed) return;
    const pill = byId("pill", HTMLElement);
    const words = { connecting: t("connecting …"), live: t("live"), lost: t("no connection"), ended: t("game over") };
    pill.hidden = false;
    if (pill.dataset.state === now && !this.unheard) return;
    if (now === "live") {
      this.pump(); // what could not be read while the line was down
      if (this.unheard) this.tell(t("The server answers again."));
      this.unheard = false;
    }
    pill.dataset.state = now;
    pill.textContent = words[now];
  }

  /** @param {Item} item */
  hear(item) {
    const { scene } = this;
    if (!scene) return;
    this.ledger.see(item);
    if (item.seq <= (this.queue[this.queue.length - 1]?.seq ?? scene.seq)) return;
    this.queue.push(item);
    this.pump();
  }

  /** Show what has been heard, one event after the other, and then take over the server's view. */
  async pump() {
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (!this.closed) {
        const item = this.queue.shift();
        if (item) await this.show(item);
        else if (await this.settle()) break;
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.pumping = false;
    }
    // what came in the moment in which the work ended
    if (this.queue.length && !this.closed) this.pump();
  }

  /** @param {Item} item */
  async show(item) {
    const { scene } = this;
    if (!scene) return;
    if (this.peek) await stand("look");
    const event = /** @type {GameEvent} */ (JSON.parse(item.event));
    if (item.seq > scene.seq) {
      scene.follow(event, item.private ?? {});
      scene.seq = item.seq;
    }
    this.forget();
    if (event.t === "hand_dealt") this.acts.raised.clear();
    const words = tell(scene, event);
    const seen = tell(scene, event, cardSign);
    if (words) this.tell(words, seen);
    this.render();
    if (this.queue.length > TOO_MANY || item.seq < this.hurryTo) return;
    if (event.t === "trick_ended" && speed() === "step") this.says.textContent = `${seen} ${t("Tap the table or press Enter to go on.")}`;
    if (event.t === "card_played") await stand("card");
    if (event.t === "trick_ended" || event.t === "hand_scored") await stand("trick");
  }

  /** Show a card as played that the server has taken, without waiting for the stream to tell it. @param {string} card */
  layAhead(card) {
    this.scene?.layAhead(card);
    this.forget();
    this.render();
  }

  /** Take over the server's view; false where the stream owes what it has, which is then read. */
  async settle() {
    const { scene } = this;
    if (!scene) return true;
    const table = await this.load();
    if (this.closed) return true;
    if (this.queue.length) return false;
    if (table.seq > scene.seq) {
      const { body } = await call("GET", at(this.id, `/events?after=${scene.seq}`));
      for (const item of body.events) this.hear(item);
      return false;
    }
    scene.settle(table);
    this.render();
    this.awake();
    return true;
  }

  /** What is to be done as soon as the table is as it stands. */
  awake() {
    const { scene } = this;
    if (!scene) return;
    const { table, you } = scene;
    if (scene.moment === this.called) return; // somebody else has passed, say
    this.called = scene.moment;
    if (table.phase === "over") {
      this.stream?.stop(); // nothing more comes
      this.connection("ended");
      this.says.textContent = "";
      say(ending(scene));
    } else if (scene.isMine && you !== undefined) {
      if (table.phase === "seats") this.readyBesideBots();
      if (table.phase === "pass" && !table.seats[you].passed) say(counted(table.rules.pass_count, "Raise {n} card to pass.", "Raise {n} cards to pass."));
      if (table.legal) say(table.trick.length ? t("Your turn.") : t("You lead."));
      if (table.phase === "moon" && table.turn === you) this.acts.moon();
    }
  }

  /** The deal comes whether or not the player says so: what it committed to must not be missed for that. */
  openInTime() {
    const { scene, ledger } = this;
    if (!scene?.isMine || scene.you === undefined || scene.table.seats[scene.you].ready || ledger.isLost(scene.you) || Date.now() < this.tryAgain) return;
    this.tryAgain = Date.now() + PATIENCE;
    void this.acts.ready();
  }

  readyBesideBots() {
    const { table, you } = /** @type {Scene} */ (this.scene);
    const alone = table.seats.every((one) => one.kind === "bot" || one.seat === you);
    if (alone && you !== undefined && !table.seats[you].ready) this.acts.ready();
  }

  // --- showing

  /** @param {string} words for who listens @param {string} [seen] what is shown of it, where the table shows the rest */
  tell(words, seen = words) {
    this.says.textContent = seen;
    say(words);
  }

  render() {
    const { scene } = this;
    if (!scene || this.closed) return;
    const { table, you } = scene;
    const passing = table.phase === "pass" && scene.isCalled;
    const hand = cardsOf(table.hand);
    const given = passing ? [] : cardsOf(table.phase === "pass" ? table.given : "");
    if (!passing) this.acts.raised.clear();
    this.view.render(scene, this.peek);
    this.tools.settle(scene);
    const held = this.ask.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.act : "";
    this.ask.replaceChildren(...askParts(scene, this.acts, this.acts.raised.size), this.clock);
    if (held) /** @type {HTMLElement | null} */ (this.ask.querySelector(`[data-act=${held}]`))?.focus();
    this.hand.render({ cards: hand, legal: scene.isMine && table.legal ? cardsOf(table.legal) : null, passing, raised: this.acts.raised, fresh: table.phase === "play" && !table.seats.some((one) => one.taken) ? cardsOf(table.received) : [], hint: this.acts.hinted, given });
    this.hand.box.classList.toggle("passing", passing);
    this.hand.box.hidden = you === undefined || !hand.length;
    Object.assign(this.box.dataset, { phase: table.phase, seq: String(scene.seq), turn: scene.isCalled ? "mine" : "" });
    this.tick();
  }

  tick() {
    const deadline = this.scene?.table.deadline;
    const left = deadline ? Math.max(0, Math.ceil((deadline - Date.now() - this.skew) / 1000)) : null;
    this.clock.hidden = left === null;
    const words = left === null ? "" : t("{n} s left", { n: left });
    if (this.clock.textContent !== words) this.clock.textContent = words;
    this.clock.classList.toggle("short", left !== null && left <= 10);
    if (this.scene?.table.phase === "seats" && left !== null && left <= OPEN_BEFORE) this.openInTime();
  }

  forget() {
    this.acts.forget();
    this.peek = false;
  }

  last() {
    if (!this.scene) return;
    const none = !this.scene.table.last_trick.length;
    if (this.peek) this.says.textContent = this.before;
    else this.before = this.says.textContent ?? "";
    this.peek = !this.peek && !none;
    this.render();
    if (this.peek || none) this.tell(lastTrick(this.scene), this.peek ? t("The last trick.") : undefined);
    else skip(); // what has come meanwhile
  }

  scores() {
    if (this.scene) showScores(this.scene);
  }

  /** @param {unknown} error */
  failed(error) {
    if (!this.scene) {
      this.box.replaceChildren(stuck(/** @type {Error} */ (error), () => this.open()));
      return;
    }
    this.tell(sentences([/** @type {Error} */ (error).message, error instanceof Refusal ? error.hint : ""]));
  }
}
