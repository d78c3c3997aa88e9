// @ts-check
/** The reader's hand: a row of cards, one of which has the keyboard; legal ones clear, others dimmed, raised ones higher. */

import { cardFace } from "./cards.js";
import { element } from "./dom.js";
import { cardName, t } from "./words.js";

/** @typedef {{ cards: string[], legal: string[] | null, passing: boolean, raised: Set<string>, fresh: string[], hint: string[], given: string[] }} Shown `raised` has keys of cards */
/** @typedef {{ onCard(key: string): void, onLook(key: string): void }} Acts */

/** The card of a key; copies have a number behind it. @param {string} key */
export const cardOf = (key) => key.slice(0, 2);

/** Cards with keys that tell copies apart. @param {string[]} cards */
export function keysOf(cards) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return cards.map((card) => {
    const copy = (seen.get(card) ?? 0) + 1;
    seen.set(card, copy);
    return copy > 1 ? `${card}${copy}` : card;
  });
}

export class HandView {
  /** @param {Acts} acts */
  constructor(acts) {
    this.acts = acts;
    this.box = element("div", "hand");
    this.box.setAttribute("role", "toolbar");
    this.box.setAttribute("aria-label", t("Your hand"));
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    /** The card that has the keyboard. */
    this.at = "";
  }

  get keys() {
    return [...this.buttons.keys()];
  }

  /** @param {Shown} shown */
  render(shown) {
    const keys = keysOf(shown.cards);
    const before = this.keys;
    const held = this.box.contains(document.activeElement);
    for (const key of before) {
      if (keys.includes(key)) continue;
      this.buttons.get(key)?.remove();
      this.buttons.delete(key);
    }
    const buttons = new Map(keys.map((key) => [key, this.buttons.get(key) ?? this.make(key)]));
    this.buttons = buttons;
    if (keys.join() !== before.join()) this.box.replaceChildren(...buttons.values());
    this.box.style.setProperty("--cards", String(Math.max(keys.length, 1)));
    if (!buttons.has(this.at)) this.at = nearest(before, keys, this.at);
    const fresh = [...shown.fresh];
    const given = [...shown.given];
    for (const [key, one] of buttons) dress(one, key, shown, fresh, given, key === this.at);
    if (held) buttons.get(this.at)?.focus();
  }

  /** @param {string} key */
  make(key) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "card";
    made.dataset.card = cardOf(key);
    made.append(cardFace(cardOf(key)));
    made.addEventListener("click", () => {
      this.hold(key);
      this.acts.onCard(key);
    });
    made.addEventListener("focus", () => {
      this.hold(key);
      this.acts.onLook(key);
    });
    return made;
  }

  /** Let a card have the keyboard. @param {string} key */
  hold(key) {
    this.at = key;
    for (const [name, one] of this.buttons) one.tabIndex = name === key ? 0 : -1;
  }

  focus() {
    this.buttons.get(this.at)?.focus();
  }

  /** @param {number} steps to the right */
  move(steps) {
    const { keys } = this;
    if (!keys.length) return;
    const at = keys.indexOf(this.at);
    this.hold(keys[(at + steps + keys.length) % keys.length]);
    this.focus();
  }

  /** Go to the next card of a rank, a suit, or both; whether there is one. @param {string} rank @param {string} suit */
  find(rank, suit) {
    const { keys } = this;
    const from = keys.indexOf(this.at) + (this.box.contains(document.activeElement) ? 1 : 0);
    for (let step = 0; step < keys.length; step += 1) {
      const key = keys[(from + step) % keys.length];
      if ((rank && key[0] !== rank) || (suit && key[1] !== suit)) continue;
      this.hold(key);
      this.focus();
      return true;
    }
    return false;
  }
}

/** Which card has the keyboard when the one that had it is gone: its right neighbour. @param {string[]} before @param {string[]} now @param {string} gone */
function nearest(before, now, gone) {
  const after = before.slice(before.indexOf(gone) + 1).find((key) => now.includes(key));
  return after ?? now[now.length - 1] ?? "";
}

/** Take a card out of a list; whether it was there. @param {string[]} cards @param {string} card */
function takeOut(cards, card) {
  const at = cards.indexOf(card);
  if (at >= 0) cards.splice(at, 1);
  return at >= 0;
}

/** @param {HTMLButtonElement} one @param {string} key @param {Shown} shown @param {string[]} fresh cards that came by the pass and are not marked yet @param {string[]} given likewise those that go @param {boolean} held */
function dress(one, key, shown, fresh, given, held) {
  const card = cardOf(key);
  const barred = shown.legal !== null && !shown.legal.includes(card);
  const isRaised = shown.raised.has(key);
  const isHint = shown.hint.includes(card);
  const isFresh = takeOut(fresh, card);
  const isGiven = takeOut(given, card);
  one.classList.toggle("barred", barred);
  one.classList.toggle("clear", shown.legal !== null && !barred);
  one.classList.toggle("raised", isRaised);
  one.classList.toggle("fresh", isFresh);
  one.classList.toggle("given", isGiven);
  one.classList.toggle("hinted", isHint);
  one.classList.toggle("queen", card === "QS");
  const note = isRaised ? "▲" : isHint ? t("hint") : isFresh ? t("new") : isGiven ? t("passed") : "";
  if (note) one.dataset.note = note;
  else delete one.dataset.note;
  one.setAttribute("aria-disabled", String(barred));
  if (shown.passing) one.setAttribute("aria-pressed", String(isRaised));
  else one.removeAttribute("aria-pressed");
  const notes = [isHint ? t("the hint") : "", isFresh ? t("new") : "", isGiven ? t("passed") : "", barred ? t("may not be played") : "", isRaised ? t("raised") : ""];
  one.setAttribute("aria-label", [cardName(card), ...notes.filter(Boolean)].join(", "));
  one.tabIndex = held ? 0 : -1;
}
