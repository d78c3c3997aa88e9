// @ts-check
/** All hands of a table, open, a row each. */

import { cardFace } from "./cards.js";
import { element } from "./dom.js";
import { cardsOf } from "./shapes.js";
import { capital, cardName, t } from "./words.js";

/** @typedef {{ seat: number, hand: string, received: string, given: string }} Open what the server shows of a seat */

export class OpenHands {
  /** @param {(seat: number, card: string) => void} ask why a card may be played */
  constructor(ask) {
    this.ask = ask;
    this.box = element("ul", "hands");
    this.box.setAttribute("aria-label", t("All hands"));
  }

  /** @param {import("./scene.js").Scene} scene @param {Open[]} open */
  render(scene, open) {
    this.box.hidden = !open.length;
    const rows = open.map(({ seat, hand }) => {
      const fan = element("span", "fan", ...cardsOf(hand).map((card) => this.card(seat, card)));
      const row = element("li", scene.table.turn === seat ? "turn" : "", element("span", "who", capital(scene.names[seat])), fan);
      row.dataset.seat = String(seat);
      return row;
    });
    this.box.replaceChildren(...rows);
  }

  /** @param {number} seat @param {string} card */
  card(seat, card) {
    const made = document.createElement("button");
    made.type = "button";
    made.dataset.card = card;
    made.setAttribute("aria-label", cardName(card));
    made.append(cardFace(card));
    made.addEventListener("click", () => this.ask(seat, card));
    return made;
  }
}
