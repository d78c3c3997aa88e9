// @ts-check
/** What happens at a table in sentences, for the line under the table and for those who listen. */

import { cardsOf } from "./shapes.js";
import { capital, cardName, cardSign, counted, listed, suitName, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./shapes.js").GameEvent} GameEvent */

/** A sentence about a seat: one for you, or the other. @param {Scene} scene @param {number} seat @param {string} you @param {string} other */
const about = (scene, seat, you, other) => capital(seat === scene.you ? you : other);

/** An event that the scene has just followed; empty for what needs no words. @param {Scene} scene @param {GameEvent} event @param {(card: string) => string} name how cards are called */
export function tell(scene, event, name = cardName) {
  const seat = event.seat ?? -1;
  switch (event.t) {
    case "hand_dealt":
      return t("Hand {n} is dealt.", { n: event.hand ?? 0 });
    case "cards_passed":
      return seat === scene.you ? t("You have passed.") : "";
    case "passes_exchanged":
      return scene.table.received ? t("You were passed: {cards}.", { cards: listed(scene.table.received.split(" ").map(name)) }) : "";
    case "card_played":
      return played(scene, event, seat, name);
    case "trick_ended":
      return trickEnded(scene, name);
    case "moon_chosen":
      return event.choice === "add"
        ? about(scene, seat, t("You give the points of the moon to the others."), t("{name} gives the points of the moon to the others.", { name: scene.who(seat) }))
        : about(scene, seat, t("You take the points of the moon off your own."), t("{name} takes the points of the moon off the own total.", { name: scene.who(seat) }));
    case "hand_scored":
      return handScored(scene, event.points ?? []);
    case "seat_to_bot":
      return about(scene, seat, t("The stand-in bot plays for you now."), t("The stand-in bot plays for {name} now.", { name: scene.who(seat) }));
    case "seat_taken_back":
      return about(scene, seat, t("You take your seat back."), t("{name} takes the seat back.", { name: scene.who(seat) }));
    case "seat_taken":
      return about(scene, seat, t("You sit down."), t("Somebody sits down."));
    case "seat_ready":
      return about(scene, seat, t("You are ready."), t("{name} is ready.", { name: scene.who(seat) }));
    default:
      return "";
  }
}

/** @param {Scene} scene @param {GameEvent} event @param {number} seat @param {(card: string) => string} name */
function played(scene, event, seat, name) {
  const leads = scene.table.trick.length === 1;
  const values = { card: name(event.card ?? "") };
  const said = leads
    ? about(scene, seat, t("You lead the {card}.", values), t("{name} leads the {card}.", { name: scene.who(seat), ...values }))
    : about(scene, seat, t("You play the {card}.", values), t("{name} plays the {card}.", { name: scene.who(seat), ...values }));
  return event.by === "clock" && seat === scene.you ? `${said} ${t("Time was up.")}` : said;
}

/** @param {Scene} scene @param {(card: string) => string} name */
function trickEnded(scene, name) {
  const { finished } = scene;
  if (!finished) return "";
  if (finished.winner === null) return t("The cards cancel: nobody takes the trick.");
  const counting = scene.counting(finished.laid);
  const cards = listed(counting.map(name));
  return counting.length
    ? about(scene, finished.winner, t("You take the trick with the {cards}.", { cards }), t("{name} takes the trick with the {cards}.", { name: scene.who(finished.winner), cards }))
    : about(scene, finished.winner, t("You take the trick."), t("{name} takes the trick.", { name: scene.who(finished.winner) }));
}

/** @param {Scene} scene @param {number[]} points */
function handScored(scene, points) {
  const parts = points.map((n, seat) => t("{name} {n}", { name: scene.who(seat), n }));
  return t("The hand is over. Points: {list}.", { list: parts.join(", ") });
}

/** Why a card may not be played, by the code of the server's rule; empty where it has none that needs our words. @param {Scene} scene @param {string} rule */
export function whyNot(scene, rule) {
  const { trick, legal } = scene.table;
  switch (rule) {
    case "play/must_follow_suit":
      return t("Follow suit: {suit} were led.", { suit: suitName(trick[0]?.card[1] ?? "") });
    case "play/hearts_not_broken":
      return t("Hearts are not broken yet: lead another suit.");
    case "play/must_open_with":
      return t("The hand is opened with {cards}.", { cards: listed(cardsOf(legal).map(cardSign)) });
    case "play/penalty_on_first_trick":
      return t("It may not be thrown on the first trick.");
    case "play/penalty_opening_lead":
      return t("It may not open the hand.");
    default:
      return "";
  }
}

/** The direction of a pass, and to whom. @param {Scene} scene */
export function passTo(scene) {
  const { pass_offset: way, pass_to: to } = scene.table;
  return passWay(way, typeof to === "number" ? scene.names[to] : "");
}

/** @param {number} offset as the server tells it @param {string} [to] */
export function passWay(offset, to = "") {
  const ways = { 1: t("left"), "-1": t("right"), 2: t("across"), 0: t("no pass") };
  const way = ways[/** @type {1} */ (offset)] ?? "";
  return to ? t("{way}, to {name}", { way, name: to }) : way;
}

/** What the table waits for, in a sentence. @param {Scene} scene */
export function waiting(scene) {
  const { table } = scene;
  if (table.phase === "seats") return seatsWaiting(scene);
  if (table.phase === "pass") {
    const late = table.seats.filter((one) => !one.passed).map((one) => scene.who(one.seat));
    return late.length ? t("Waiting for {names} to pass.", { names: listed(late) }) : "";
  }
  if (table.phase === "over" || table.turn === null) return "";
  if (table.phase === "moon") return t("{name} shot the moon and chooses.", { name: capital(scene.who(table.turn)) });
  return t("It is the turn of {name}.", { name: scene.who(table.turn) });
}

/** @param {Scene} scene */
function seatsWaiting(scene) {
  const { table } = scene;
  const free = table.seats.filter((one) => one.kind === "open").length;
  if (free) return counted(free, "Waiting for {n} more player.", "Waiting for {n} more players.");
  const late = table.seats.filter((one) => !one.ready).map((one) => scene.who(one.seat));
  return t("Waiting until {names} are ready.", { names: listed(late) });
}

/** The whole table for who asks where the game stands. @param {Scene} scene */
export function wholeTable(scene) {
  const { table } = scene;
  const parts = [];
  const laid = table.trick.map((one) => t("{name}: {card}", { name: scene.who(one.seat), card: cardName(one.card) }));
  if (table.phase === "play") parts.push(laid.length ? t("In the trick: {cards}.", { cards: laid.join("; ") }) : t("The trick is empty."));
  if (table.phase === "play") parts.push(table.hearts_broken ? t("Hearts are broken.") : t("Hearts are not broken."));
  parts.push(waiting(scene));
  parts.push(t("Totals: {list}.", { list: table.totals.map((n, seat) => t("{name} {n}", { name: scene.who(seat), n })).join(", ") }));
  return parts.filter(Boolean).join(" ");
}

/** The last trick, card by card. @param {Scene} scene */
export function lastTrick(scene) {
  const { last_trick: laid, last_winner: winner } = scene.table;
  if (!laid.length) return t("No trick of this hand is finished yet.");
  const cards = laid.map((one) => t("{name}: {card}", { name: capital(scene.who(one.seat)), card: cardName(one.card) })).join("; ");
  const end = winner === null ? t("Nobody took it.") : about(scene, winner, t("You took it."), t("{name} took it.", { name: scene.who(winner) }));
  return t("Last trick. {cards}. {end}", { cards, end });
}

/** How the game ended. @param {Scene} scene */
export function ending(scene) {
  const { table } = scene;
  if (!table.winners.length) return t("The game was abandoned; nobody wins.");
  const names = listed(table.winners.map((seat) => scene.who(seat)));
  const n = table.totals[table.winners[0]];
  if (table.winners.length > 1) return capital(t("{names} share the win with {n} points.", { names, n }));
  return about(scene, table.winners[0], t("You win with {n} points.", { n }), t("{name} wins with {n} points.", { name: scene.who(table.winners[0]), n }));
}
