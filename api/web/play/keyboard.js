// @ts-check
/** The table by the keyboard alone: arrows and letters find a card, Enter plays it, other keys read and show. */

import { element, openDialog } from "./dom.js";
import { t } from "./words.js";

/** @typedef {{ move(steps: number): void, find(rank: string, suit: string): void, onward(): boolean, pass(): void, readHand(): void, readTable(): void, last(): void, scores(): void, hint(): void, rules(): void, claim(): void, fair(): void }} Keys */

/** Milliseconds in which a suit belongs to the rank that was typed before it. */
const TOGETHER = 1200;

/** @returns {[string, string][]} */
const helpRows = () => [
  ["← →", t("the next card")],
  ["Q, S", t("a rank, a suit, or both one after the other: the queen of spades (10 is T or 1)")],
  ["Enter", t("play the card, or raise it to be passed; go on when a trick has been seen")],
  ["P", t("pass the raised cards")],
  ["R", t("read my hand")],
  ["W", t("read the table: what lies there, whose turn it is, totals")],
  ["L", t("the last trick again")],
  ["G", t("scores")],
  ["I", t("a hint")],
  ["X", t("the rules of this table")],
  ["F", t("how the deals come about, and the game checked")],
  ["M", t("mine: claim the rest of the tricks")],
  ["?", t("these keys")],
];

export function showKeys() {
  const rows = helpRows().map(([key, words]) => element("tr", "", element("th", "", element("kbd", "", key)), element("td", "", words)));
  return openDialog(t("Keys"), [element("table", "keys", element("tbody", "", ...rows))], "keys");
}

/** Listen until the answer is called. @param {Keys} keys */
export function listen(keys) {
  let rank = "";
  let since = 0;
  /** @param {string} letter whether it names a card */
  const find = (letter) => {
    const now = performance.now();
    if ("CDSH".includes(letter)) {
      keys.find(now - since < TOGETHER ? rank : "", letter);
      rank = "";
      return true;
    }
    if (!"23456789TJQKA1".includes(letter)) return false;
    rank = letter === "1" ? "T" : letter;
    since = now;
    keys.find(rank, "");
    return true;
  };
  /** @type {Record<string, () => void>} */
  const acts = { ARROWLEFT: () => keys.move(-1), ARROWRIGHT: () => keys.move(1), P: keys.pass, R: keys.readHand, W: keys.readTable, L: keys.last, G: keys.scores, I: keys.hint, X: keys.rules, M: keys.claim, F: keys.fair, "?": showKeys };
  /** @param {KeyboardEvent} event */
  const hear = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]") || target.matches("input, select, textarea")) return;
    const letter = event.key.toUpperCase();
    if (event.key === "Enter" || event.key === " ") {
      // on a button Enter is its click; elsewhere it goes on
      if (!target.matches("button, a, summary") && keys.onward()) event.preventDefault();
      return;
    }
    const act = acts[letter];
    if (act) act();
    else if (event.key.length > 1 || !find(letter)) return;
    event.preventDefault();
  };
  addEventListener("keydown", hear);
  return () => removeEventListener("keydown", hear);
}
