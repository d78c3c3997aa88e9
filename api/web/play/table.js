// @ts-check
/** The table: who sits where, what each has laid and taken, whose turn it is, and what lies in the middle. */

import { cardFace } from "./cards.js";
import { element } from "./dom.js";
import { placeOf } from "./seating.js";
import { cardsOf } from "./shapes.js";
import { passTo } from "./telling.js";
import { capital, cardName, cardSign, counted, signed, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./shapes.js").Seat} Seat */
/** @typedef {{ item: HTMLElement, plate: HTMLElement, told: HTMLElement, laid: HTMLElement, card: string }} Place */

export class TableView {
  constructor() {
    this.seats = element("ol", "seats");
    this.seats.setAttribute("aria-label", t("Seats"));
    this.middle = element("p", "middle");
    this.middle.setAttribute("aria-hidden", "true");
    this.cloth = element("div", "cloth", this.seats, this.middle);
    /** By seat. @type {Place[]} */
    this.places = [];
  }

  /** @param {Scene} scene @param {boolean} peek whether the last trick is looked at again */
  render(scene, peek) {
    if (this.places.length !== scene.table.seats.length || this.you !== scene.you) this.build(scene);
    const { table } = scene;
    const laid = peek ? table.last_trick : scene.laid;
    const winner = peek ? table.last_winner : scene.finished?.winner;
    const done = peek || scene.finished !== null;
    for (const seat of table.seats) {
      const place = this.places[seat.seat];
      const card = laid.find((one) => one.seat === seat.seat)?.card ?? "";
      this.seat(scene, seat, place);
      lay(place, card, done && winner === seat.seat, table.rules.cancel === true && laid.filter((one) => one.card === card).length > 1);
    }
    this.cloth.classList.toggle("done", done);
    this.middle.replaceChildren(...middle(scene, peek, done, winner ?? null));
  }

  /** @param {Scene} scene */
  build(scene) {
    const count = scene.table.seats.length;
    const first = scene.you ?? 0;
    this.you = scene.you;
    this.places = [];
    this.cloth.dataset.seats = String(count);
    const order = Array.from({ length: count }, (_, left) => (first + left) % count);
    for (const [left, seat] of order.entries()) {
      const plate = element("div", "plate");
      const told = element("span", "unseen");
      const laid = element("div", "laid");
      plate.setAttribute("aria-hidden", "true");
      const item = element("li", "seat", told, plate, laid);
      item.dataset.seat = String(seat);
      item.classList.toggle("me", left === 0);
      const at = placeOf(left, count);
      for (const [name, value] of Object.entries({ "--x": at.x, "--y": at.y, "--card-x": at.cardX, "--card-y": at.cardY })) item.style.setProperty(name, `${value}%`);
      this.places[seat] = { item, plate, told, laid, card: "" };
    }
    // on a phone the others come in the order of play, and the reader last
    this.seats.replaceChildren(...order.slice(1).map((seat) => this.places[seat].item), this.places[first].item);
  }

  /** @param {Scene} scene @param {Seat} seat @param {Place} place */
  seat(scene, seat, place) {
    const { table } = scene;
    const isTurn = table.turn === seat.seat || (table.phase === "pass" && !seat.passed);
    const name = scene.names[seat.seat];
    place.item.classList.toggle("turn", isTurn);
    place.item.classList.toggle("won", table.winners.includes(seat.seat));
    const gained = scene.gained ? scene.gained[seat.seat] : null;
    const head = element("div", "head", element("span", "name", isTurn ? "▸ " : "", name));
    if (table.phase !== "seats") head.append(fact("total", String(table.totals[seat.seat] ?? 0)));
    if (gained !== null) head.append(fact("gained", signed(gained)));
    const parts = [head];
    if (table.status === "playing") {
      const held = fact("held", counted(seat.cards, "{n} card", "{n} cards"));
      parts.push(element("div", "facts", held, fact("tricks", counted(seat.taken, "{n} trick", "{n} tricks"))));
    }
    const notes = [...wonChips(scene, seat.seat), ...stateChips(scene, seat)];
    if (notes.length) parts.push(element("span", "chips", ...notes));
    place.plate.replaceChildren(...parts);
    place.plate.title = seat.kind === "bot" ? t("Bot: {name}", { name: seat.name }) : "";
    place.told.textContent = told(scene, seat, isTurn);
  }
}

/** @param {string} kind @param {string} words */
const fact = (kind, words) => element("span", kind, words);

/** The counting cards that a seat has taken: hearts by number, the others one by one, the queen of spades marked. @param {Scene} scene @param {number} seat */
function wonChips(scene, seat) {
  const won = cardsOf(scene.table.seats[seat].won);
  const hearts = won.filter((card) => card[1] === "H").length;
  const chips = won.filter((card) => card[1] !== "H").map((card) => element("span", card === "QS" ? "chip queen" : "chip", cardSign(card)));
  if (hearts) chips.push(element("span", "chip heart", `♥${hearts}`));
  return chips;
}

/** Whether a seat plays with the reader's. @param {Scene} scene @param {number} seat */
const isPartner = ({ table, you }, seat) => table.rules.partners === "opposite" && you !== undefined && seat === (you + table.seats.length / 2) % table.seats.length;

/** @param {Scene} scene @param {Seat} seat */
function stateChips(scene, seat) {
  const { table } = scene;
  const words = isPartner(scene, seat.seat) ? [t("partner")] : [];
  if (table.phase === "seats" && seat.kind !== "open") words.push(seat.ready ? t("ready") : t("not ready"));
  if (table.phase === "pass") words.push(seat.passed ? t("✓ passed") : t("passing"));
  if (seat.away) words.push(seat.returning ? t("coming back") : t("bot plays"));
  return words.map((word) => element("span", "chip", word));
}

/** A seat in a sentence. @param {Scene} scene @param {Seat} seat @param {boolean} isTurn */
function told(scene, seat, isTurn) {
  const name = capital(scene.who(seat.seat));
  const won = cardsOf(seat.won).map(cardName).join(", ");
  const parts = [
    t("{name}: total {n}", { name, n: scene.table.totals[seat.seat] ?? 0 }),
    isPartner(scene, seat.seat) ? t("your partner") : "",
    counted(seat.cards, "{n} card", "{n} cards"),
    counted(seat.taken, "{n} trick", "{n} tricks"),
    won ? t("has taken {cards}", { cards: won }) : "",
    isTurn ? t("to act") : "",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

/** Lay a card before a seat, or take it away; one that lies there already stays as it is. @param {Place} place @param {string} card @param {boolean} takes @param {boolean} cancelled whether another lies there that is the same */
function lay(place, card, takes, cancelled) {
  place.laid.classList.toggle("takes", takes);
  place.laid.classList.toggle("cancelled", Boolean(card) && cancelled);
  if (place.card === card) return;
  place.card = card;
  place.laid.replaceChildren();
  if (card) {
    const face = cardFace(card);
    face.dataset.card = card;
    place.laid.append(face);
  }
}

/** @param {Scene} scene @param {boolean} peek @param {boolean} done @param {number | null} winner */
function middle(scene, peek, done, winner) {
  const { table } = scene;
  const parts = [];
  if (peek) parts.push(element("b", "", t("Last trick")));
  if (done) parts.push(element("span", "taker", winner === null ? t("Nobody takes it") : t("{name} ✓", { name: scene.names[winner] })));
  if (table.phase === "pass") parts.push(element("b", "", t("Hand {n}", { n: table.hand_number })), element("span", "", passTo(scene)));
  if (table.status === "playing" && table.hearts_broken && !done) parts.push(element("span", "broken", t("♥ broken")));
  return parts;
}
