// @ts-check
/** The moments of a game that are worth a step: cards, tricks and hands, each with the event after which it is seen. */

import { at, call } from "./client.js";

/** @typedef {import("./shapes.js").GameEvent & { n: number, at: number }} Told an event as it is stored */
/** @typedef {"card" | "trick" | "hand"} Size */
/** @typedef {{ seq: number, event: Told, size: Size, hand: number, trick: number }} Moment `size` is what ends or begins there; `trick` how many of the hand are over */

/** Events that an answer of the server has at most. */
const PAGE = 1000;

/** What is worth a step, and how large a one. @type {Record<string, Size>} */
const SIZES = { hand_dealt: "hand", passes_exchanged: "trick", card_played: "card", trick_ended: "trick", moon_chosen: "trick", hand_scored: "hand", game_ended: "hand" };

/** All public events of a game. @param {string} game @returns {Promise<Told[]>} */
export async function readEvents(game) {
  /** @type {Told[]} */
  const events = [];
  for (;;) {
    const { body } = await call("GET", at(game, `/events?after=${events.length}&limit=${PAGE}`));
    for (const item of body.events) events.push(JSON.parse(item.event));
    if (body.events.length < PAGE) return events;
  }
}

/** @param {Told[]} events @returns {Moment[]} */
export function momentsOf(events) {
  /** @type {Moment[]} */
  const found = [];
  let hand = 0;
  let trick = 0;
  for (const event of events) {
    if (event.t === "hand_dealt") [hand, trick] = [event.hand ?? hand + 1, 0];
    if (event.t === "trick_ended") trick += 1;
    const size = SIZES[event.t];
    if (size) found.push({ seq: event.n, event, size, hand, trick });
  }
  return found;
}

/** The index of the moment at an event, or of the last one before it. @param {Moment[]} moments @param {number} seq */
export function indexAt(moments, seq) {
  const after = moments.findIndex((one) => one.seq > seq);
  return Math.max(0, (after < 0 ? moments.length : after) - 1);
}

const WEIGHT = { card: 0, trick: 1, hand: 2 };

/** The next moment in a direction at which something as large ends or begins; the border where there is none. @param {Moment[]} moments @param {number} from @param {1 | -1} way @param {Size} size */
export function nextIndex(moments, from, way, size) {
  let at = from + way;
  while (at > 0 && at < moments.length - 1 && WEIGHT[moments[at].size] < WEIGHT[size]) at += way;
  return Math.min(Math.max(at, 0), moments.length - 1);
}
