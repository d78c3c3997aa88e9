// @ts-check
/**
 * What this browser keeps of each game, so that nobody can tell another story afterwards: the server's signed receipts, and
 * what the player's seat committed to. docs/spec/audit.md says what a receipt is, and docs/audit.md which to keep.
 */

import { forgetOldest, recalled, remember } from "./memory.js";

/** @typedef {{ game: string, seq: number, head: string, signature: string }} Receipt the server's word that event `seq` has this head */
/**
 * `receipt` is the newest that is right, `forked` one that shows another history than the server tells, `pending` those that
 * have not been held to their events yet; `count` of all that came. `seat` and `commit` are what the
 * player's seat committed to, `opened` whether the server has taken its opening; `checkpoint` is one of the server's log.
 * @typedef {{ at: number, count: number, receipt: Receipt | null, forked: Receipt | null, pending: Receipt[], checkpoint: string, seat: number | null, commit: string, opened: boolean }} Kept
 */

const GAMES = "hearts.kept.";
const MOST_GAMES = 60;
/** Receipts that wait for their events: the newest cover those before them. */
const MOST_PENDING = 8;
const KEY = "hearts.server-key";

/** @param {string} game @returns {Kept} */
export function keptOf(game) {
  const nothing = { at: 0, count: 0, receipt: null, forked: null, pending: [], checkpoint: "", seat: null, commit: "", opened: false };
  return { ...nothing, ...recalled(GAMES + game) };
}

/** Keep something more of a game; read and written at once, for other tabs do so too. @param {string} game @param {(kept: Kept) => Partial<Kept>} change */
export function keep(game, change) {
  const kept = keptOf(game);
  if (!kept.at) forgetOldest(GAMES, MOST_GAMES - 1);
  remember(GAMES + game, JSON.stringify({ ...kept, at: Date.now(), ...change(kept) }));
}

/** Take the receipt of a command; it is judged when its event is told. @param {Receipt} receipt */
export function hearReceipt(receipt) {
  keep(receipt.game, ({ count, pending }) => ({ count: count + 1, pending: [...pending, receipt].slice(-MOST_PENDING) }));
}

/** Receipts that count as evidence. @param {Kept} kept */
export const evidenceOf = ({ receipt, forked }) => [receipt, forked].filter((one) => one !== null);

/** The server's key as it was first seen at this address, "" where none was. */
export const knownKey = () => String(recalled(KEY)?.key ?? "");

/** Believe a server key from now on. @param {string} key */
export function believeKey(key) {
  remember(KEY, JSON.stringify({ key, at: Date.now() }));
}
