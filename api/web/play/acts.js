// @ts-check
/** What a player does at a table: cards pressed and raised, commands sent once at a time, reasons and hints asked for. */

import { Refusal, at, bePlayer, call } from "./client.js";
import { say, sheet } from "./dom.js";
import { cardOf } from "./hand.js";
import { askClaim, askMoon } from "./asking.js";
import { skip } from "./pace.js";
import { showRules } from "./rules.js";
import { cardsOf } from "./shapes.js";
import { openNumber, sitDown, takeSeat } from "./sitting.js";
import { waiting, whyNot } from "./telling.js";
import { cardName, cardSign, counted, sentences, t } from "./words.js";

/** Milliseconds after which a move that was taken, and that the stream has not told, is asked for. */
const PATIENCE = 700;
/** Milliseconds for which a card has the keyboard before its reason is asked for. */
const LOOK = 250;

export class Acts {
  /** @param {import("./game.js").Game} game */
  constructor(game) {
    this.game = game;
    /** Commands on their way: where to, and at what sight of the table they were given. @type {Set<string>} */
    this.sending = new Set();
    /** The event of the last command that was taken: until it is shown a second press means nothing. */
    this.taken = 0;
    /** Cards raised to be passed, by key. @type {Set<string>} */
    this.raised = new Set();
    /** @type {string[]} */
    this.hinted = [];
    /** Where who is not at the table types a name: the same one for as long as it is asked for. @type {ReturnType<typeof import("./opening.js").nameField> | undefined} */
    this.name = undefined;
    /** Why cards may not be played now. @type {Map<string, string>} */
    this.reasons = new Map();
  }

  /** The table has changed: what was asked about it before holds no longer. */
  forget() {
    this.hinted = [];
    this.reasons.clear();
  }

  /** A card was pressed. @param {string} key */
  press(key) {
    const { scene } = this.game;
    if (skip() || !scene || scene.seq < this.taken) return;
    const { table, you } = scene;
    const card = cardOf(key);
    if (table.phase === "pass" && scene.isMine && you !== undefined && !table.seats[you].passed) this.raise(key);
    else if (!table.legal || !scene.isMine) this.game.tell(waiting(scene));
    else if (!cardsOf(table.legal).includes(card)) this.why(card);
    else this.command("POST", "/moves", { play: card });
  }

  /** @param {string} key */
  raise(key) {
    const count = this.game.scene?.table.rules.pass_count ?? 0;
    if (!this.raised.delete(key)) {
      if (this.raised.size >= count) {
        this.game.tell(counted(count, "{n} card is passed: lower it to choose another.", "{n} cards are passed: lower one to choose another."));
        return;
      }
      this.raised.add(key);
    }
    this.game.render();
    say(this.raised.size === count ? t("{n} raised. P passes them.", { n: count }) : t("{n} of {all} raised", { n: this.raised.size, all: count }));
  }

  /** @param {string} key */
  look(key) {
    clearTimeout(this.looking);
    const { table } = this.game.scene ?? {};
    if (!table?.legal || cardsOf(table.legal).includes(cardOf(key))) return;
    this.looking = setTimeout(() => this.why(cardOf(key)), LOOK);
  }

  /** Tell why a card may not be played, in the server's words. @param {string} card */
  async why(card) {
    clearTimeout(this.looking);
    const scene = /** @type {import("./scene.js").Scene} */ (this.game.scene);
    try {
      const known = this.reasons.get(card);
      const { body } = known ? { body: null } : await call("GET", at(this.game.id, `/why?card=${card}`));
      const words = known ?? (whyNot(scene, body.rule) || sentences([body.detail, body.hint]));
      this.reasons.set(card, words);
      this.game.tell(`${cardSign(card)}: ${words}`);
    } catch (error) {
      this.game.failed(error);
    }
  }

  async pass() {
    const { scene } = this.game;
    const count = scene?.table.rules.pass_count;
    if (scene?.table.phase !== "pass") return;
    if (this.raised.size !== count) this.game.tell(t("{n} of {all} raised", { n: this.raised.size, all: count ?? 0 }));
    else await this.command("POST", "/moves", { pass: [...this.raised].map(cardOf) });
  }

  /**
   * Send a command, one of a kind at each sight of the table, so that a double click plays one card; and see to it that
   * what comes of it is shown. The stream may show that before the answer is here: the next command need not wait for it.
   * @param {string} method @param {string} path @param {{ play?: string, pass?: string[], moon?: string }} [body]
   */
  async command(method, path, body) {
    const given = `${path} ${this.game.scene?.moment}`;
    if (this.sending.has(given)) return null;
    this.sending.add(given);
    this.game.box.classList.add("busy");
    try {
      const { body: table } = await call(method, at(this.game.id, path), body);
      void this.game.ledger.witness.settle(); // the receipt is of events that may have been told already
      if ((this.game.scene?.seq ?? 0) >= table.seq) return table;
      this.taken = Math.max(this.taken, table.seq);
      this.game.hurryTo = Math.max(this.game.hurryTo, table.seq);
      skip();
      if (body?.play && given === `${path} ${this.game.scene?.moment}`) this.game.layAhead(body.play);
      setTimeout(() => this.game.scene && this.game.scene.seq < table.seq && !this.game.queue.length && this.game.pump(), PATIENCE);
      return table;
    } catch (error) {
      this.game.failed(error);
      if (error instanceof Refusal) this.game.pump(); // the table has moved on, or this page was behind
      return null;
    } finally {
      this.sending.delete(given);
      this.game.box.classList.toggle("busy", this.sending.size > 0);
    }
  }

  /** Be ready, and open the number that the seat was taken with. */
  async ready() {
    const { scene, ledger } = this.game;
    if (!scene || this.opening) return;
    this.opening = true; // one opening is enough, however long it takes
    try {
      await openNumber(scene.table, ledger);
      this.game.pump();
    } catch (error) {
      this.game.failed(error);
    } finally {
      this.opening = false;
    }
  }

  /** Whether the seat was taken with a number that this browser does not have. */
  get isLost() {
    return this.game.ledger.isLost(this.game.scene?.you);
  }

  /** Take the seat again with another number: the one that it was taken with is not in this browser. */
  async anew() {
    const { you } = this.game.scene ?? {};
    if (you === undefined) return;
    try {
      await call("DELETE", at(this.game.id, `/seats/${you}`));
      await sitDown(this.game.id, { seat: you, ...this.invited() });
    } catch (error) {
      this.game.failed(error);
    }
    await this.game.open();
  }

  /** @returns {{ invitation?: string }} */
  invited() {
    return this.game.invitation ? { invitation: this.game.invitation } : {};
  }

  claim() {
    const { scene } = this.game;
    if (!scene || document.querySelector("dialog[data-name=claim]")) return;
    if (scene.table.claim) askClaim(scene, scene.table.claim, () => this.command("POST", "/claim", {}));
    else this.game.tell(scene.table.legal ? t("It is not certain that you take all tricks that are left.") : waiting(scene));
  }

  async leave() {
    const open = this.game.scene?.table.phase === "seats";
    await this.command("DELETE", `/seats/${this.game.scene?.you}`);
    if (open) this.game.open();
  }

  back() {
    this.command("POST", `/seats/${this.game.scene?.you}/back`, {});
  }

  /** @param {string} name */
  async sit(name) {
    try {
      await bePlayer(name);
      await sitDown(this.game.id, this.invited());
      this.game.says.textContent = "";
      await this.game.open(); // anew, for now the stream tells our cards
    } catch (error) {
      this.game.failed(error);
    }
  }

  async rematch() {
    try {
      const body = await takeSeat(at(this.game.id, "/rematch"), {});
      location.hash = `#/table/${body.id}`;
    } catch (error) {
      this.game.failed(error);
    }
  }

  async hint() {
    try {
      const { body } = await call("GET", at(this.game.id, "/hint"));
      this.hinted = body.pass ?? (body.play ? [body.play] : []);
      const what = body.moon === "add" ? t("give it to the others") : body.moon ? t("take it off yours") : this.hinted.map(cardName).join(", ");
      this.game.render();
      this.game.tell(t("Hint: {what}.", { what }));
    } catch (error) {
      this.game.failed(error);
    }
  }

  moon() {
    if (this.game.scene && !document.querySelector("dialog[data-name=moon]")) askMoon(this.game.scene, (choice) => this.command("POST", "/moves", { moon: choice }));
  }

  last() {
    this.game.last();
  }

  scores() {
    this.game.scores();
  }

  /** How the deals come about, and the game checked; loaded when it is wanted. @param {boolean} [check] whether at once */
  async fair(check = false) {
    const { scene, ledger } = this.game;
    if (!scene) return;
    try {
      sheet("/play/fair.css");
      const { showFair } = await import("./fair.js");
      if (!document.querySelector("dialog[open]")) this.game.shown = showFair({ ledger, scene: () => this.game.scene ?? scene, anew: () => void this.anew() }, check);
    } catch (error) {
      this.game.failed(error);
    }
  }

  rules() {
    showRules(this.game.id, this.game.scene?.table.variant ?? "").catch((error) => this.game.failed(error));
  }
}
