// @ts-check
/**
 * What the objects of a proof file look like: their fields, and what each may hold. From docs/spec/audit.md (public
 * events) and docs/spec/ruleset.md. Fields that are not named here are let be, unless an object is closed.
 */

import { NAMES, parseCards } from "./verify-formulas.js";

/** Says whether a value is of a kind. @typedef {(value: any) => boolean} Kind */

export const text = (/** @type {any} */ value) => typeof value === "string" && !/\p{Surrogate}/u.test(value);
export const whole = (/** @type {any} */ value) => Number.isSafeInteger(value);
const yesNo = (/** @type {any} */ value) => typeof value === "boolean";
/** @param {number} low @param {number} high @returns {Kind} */
const between = (low, high) => (value) => whole(value) && low <= value && value <= high;
/** @param {unknown[]} values @returns {Kind} */
const oneOf = (...values) => (value) => values.includes(value);
/** @param {Kind} kind @returns {Kind} */
const orNull = (kind) => (value) => value === null || kind(value);
/** @param {Kind} kind @returns {Kind} */
export const list = (kind) => (value) => Array.isArray(value) && value.every(kind);
/** @param {Kind[]} kinds @returns {Kind} */
const row = (...kinds) => (value) =>
  Array.isArray(value) && value.length === kinds.length && kinds.every((kind, at) => kind(value[at]));
/** @param {Record<string, Kind>} fields @returns {Kind} */
const object = (fields) => (value) => wrongField(value, fields) === null;

/**
 * The first field that is missing or holds something else; null where there is none.
 * @param {any} value @param {Record<string, Kind>} fields @param {Record<string, Kind>} [optional] @param {boolean} [closed]
 */
export function wrongField(value, fields, optional = {}, closed = false) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "the whole, which is no object";
  for (const [name, kind] of Object.entries(fields)) {
    if (!Object.hasOwn(value, name) || !kind(value[name])) return name;
  }
  for (const [name, kind] of Object.entries(optional)) {
    if (Object.hasOwn(value, name) && !kind(value[name])) return name;
  }
  const other = Object.keys(value).find((name) => !Object.hasOwn(fields, name) && !Object.hasOwn(optional, name));
  return closed && other !== undefined ? other : null;
}

// --- lines of a file

/** @type {Record<string, Record<string, Kind>>} */
export const LINES = {
  header: { format: text, game: text, server_key: text },
  heads: { heads: text },
  receipt: { receipt: text },
  signedHead: { game: text, seq: whole, head: text, signature: text },
  checkpoint: { checkpoint: text },
  inclusion: { leaf: text, index: whole, size: whole, path: list(text) },
};
export const KEPT_LEAF = { ...LINES.inclusion, game: text, kind: oneOf("lock", "end"), seq: whole, head: text, checkpoint: text };

// --- events

const bot = object({ name: text, version: text, budget: whole });
const by = oneOf("player", "bot", "clock", "claim");
const numbers = list(whole);
const texts = list(text);
const signatures = list(orNull(row(whole, text)));
const signed = { signed_seq: whole, signature: text };

/** By name: the fields that an event must have. @type {Record<string, Record<string, Kind>>} */
export const EVENTS = {
  game_created: {
    game: text, rules: object({}), anchor: orNull(text), chain: whole, server_key: text, ready_seconds: whole,
    stand_in: bot, rated: yesNo, hints: yesNo, clock: orNull(whole),
  },
  seat_taken: {
    seat: whole, kind: oneOf("player", "bot"), player: orNull(text), bot: orNull(bot), entropy_commit: orNull(text), public_key: orNull(text),
  },
  seat_left: { seat: whole },
  seat_ready: { seat: whole, entropy: text },
  game_locked: { entropy: list(row(whole, text, text)), root: text },
  hand_dealt: { hand: whole, hands: list(orNull(text)), kitty: orNull(text) },
  cards_passed: { seat: whole, cards: orNull(text), by },
  passes_exchanged: { hand: whole },
  card_played: { seat: whole, card: text, by },
  trick_ended: { seat: orNull(whole) },
  moon_chosen: { seat: whole, choice: oneOf("add", "subtract"), by },
  hand_scored: {
    hand: whole, secret: orNull(text), deal: orNull(texts), kitty: orNull(text), passes: orNull(texts), points: numbers, totals: numbers,
  },
  hands_revealed: { hand: whole, secret: text, deal: texts, kitty: text, passes: orNull(texts) },
  seat_to_bot: { seat: whole },
  seat_taken_back: { seat: whole },
  key_rotated: { server_key: text, signature: text },
  game_ended: { winners: numbers, totals: numbers, reason: oneOf("target", "limit", "abandoned"), secret: orNull(text) },
};

/** By name: fields that some events of it have. @type {Record<string, Record<string, Kind>>} */
export const MORE = {
  game_created: { imported: oneOf(true), branch: object({ game: text, at: whole, seat: whole }), abandon_seconds: whole, deal_group: text },
  card_played: signed,
  moon_chosen: signed,
  hand_scored: { pass_signatures: signatures },
  hands_revealed: { pass_signatures: signatures },
  game_ended: { pass_signatures: signatures },
};

// --- the rule set: what can be played

const LARGEST = 1_000_000;
const CLASSES = [..."CDSH", ...NAMES];
const small = between(-LARGEST, LARGEST);
const least = between(0, LARGEST);
/** @type {Kind} */
const classes = (value) => list(oneOf(...CLASSES))(value) && new Set(value).size === value.length;
/** @type {Kind} */
const points = (value) =>
  object({})(value) && Object.entries(value).every(([name, number]) => CLASSES.includes(name) && small(number));

/** Numbers of seats by published name; those not named here have four. @type {Record<string, number[]>} */
const SEATS = {
  standard: [3, 7], cancellation: [6, 11], bicycle: [3, 5], bicycle_cancellation: [7, 8], black_maria: [3, 6], custom: [3, 11],
};
const VARIANTS = [
  "basic", "classic", "special", "omnibus", "microsoft", "pagat", "bicycle_omnibus", "black_jack", "spot", "pip", "greek", "partnership",
  ...Object.keys(SEATS),
];

/** @type {Record<string, Kind>} */
const RULES = {
  players: between(3, 11),
  decks: between(1, 2),
  removed: (value) => text(value) && value.length <= 512 && parseCards(value) !== null,
  hand: between(1, 34),
  kitty_to: oneOf("first", "last"),
  pass_count: between(0, 4),
  pass_cycle: (value) => list(between(-1, 2))(value) && 1 <= value.length && value.length <= 64,
  opener: oneOf("forced", "left"),
  opening_ban: classes,
  trick1_ban: classes,
  trick1_all_banned: oneOf("any", "must_qs"),
  breakers: classes,
  qs_hearts_lead: oneOf("qs", "any"),
  cancel: yesNo,
  dead_trick: oneOf("no_live_card", "two_pairs"),
  dead_last: oneOf("nobody", "leader"),
  points,
  moon_effect: oneOf("add", "subtract", "choice", "choice_if_lost", "auto", "collect", "none"),
  moon_x: least,
  moon_needs_bonus: yesNo,
  floor: orNull(small),
  target: between(1, LARGEST),
  tie: oneOf("shared", "continue"),
  perfect_hand: yesNo,
  hand_limit: orNull(between(1, 4096)),
  moon_choice_from: small,
  moon_bonus: oneOf("swallowed"),
  sun_effect: oneOf("add", "subtract", "punish", "reset"),
  sun_x: least,
  sun_from: oneOf(2),
  no_trick_points: small,
  hand_floor: small,
  partners: oneOf("opposite"),
};

/** What every rule set has where it says nothing else; read only for what the deal needs. */
const USUAL = { players: 4, decks: 1, removed: "", hand: 13, pass_count: 3, pass_cycle: [1, -1, 2, 0], hand_limit: null };

/**
 * What the deal follows from. @typedef {{
 *   players: number, decks: number, removed: string, hand: number, pass_count: number, pass_cycle: number[], hand_limit: number | null,
 * }} Rules
 */

/**
 * The rule set of a game, or why it cannot be played.
 * @param {any} given @returns {{ rules: Rules, why: string }}
 */
export function readRules(given) {
  /** @type {Rules} */
  const rules = { ...USUAL, ...given };
  return { rules, why: whyUnplayable(given, rules) };
}

/** @param {any} given @param {Rules} rules */
function whyUnplayable(given, rules) {
  const wrong = wrongField(given, { variant: oneOf(...VARIANTS) }, RULES, true);
  if (wrong !== null) return `${wrong} is not as it can be`;
  const removed = parseCards(rules.removed) ?? [];
  const most = Math.max(0, ...removed.map((card) => removed.filter((one) => one === card).length));
  const [low, high] = SEATS[given.variant] ?? [4, 4];
  const { players, decks, hand } = rules;
  if (most > decks) return "more copies of a card are removed than there are";
  if (players < low || players > high) return `${given.variant} is not played with ${players} seats`;
  if (players * hand > decks * 52 - removed.length) return "there are too few cards";
  if (rules.pass_count > hand) return "more cards are passed than a hand has";
  if (given.partners !== undefined && players % 2) return "partners need an even number of seats";
  if (given.sun_from > hand) return "a sun begins with a trick that there is not";
  if (rules.pass_cycle.includes(2) && players % 2) return "an odd number of seats has nobody across";
  return "";
}
