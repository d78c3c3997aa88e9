// @ts-check
/** Every text that is seen or heard, by one function, with its English as the key; and what cards are called. */

/** What another language says instead, by the English. @type {Record<string, string>} */
let catalogue = {};

/** Speak by `texts` from now on. @param {Record<string, string>} texts */
export function speakBy(texts) {
  catalogue = texts;
}

/** A text in the reader's language, `{name}` replaced by `values.name`. @param {string} text @param {Record<string, string | number>} [values] */
export function t(text, values = {}) {
  return (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** One of two texts by a number, which both may name as `{n}`. @param {number} n @param {string} one @param {string} many @param {Record<string, string | number>} [values] */
export const counted = (n, one, many, values = {}) => t(n === 1 ? one : many, { n, ...values });

/** @type {Record<string, string>} */
export const SIGNS = { C: "♣", D: "♦", S: "♠", H: "♥" };

/** @param {string} suit */
export function suitName(suit) {
  return { C: t("clubs"), D: t("diamonds"), S: t("spades"), H: t("hearts") }[suit] ?? suit;
}

/** @param {string} rank */
function rankName(rank) {
  return { T: t("10"), J: t("jack"), Q: t("queen"), K: t("king"), A: t("ace") }[rank] ?? rank;
}

/** A card in words: queen of spades. @param {string} card */
export const cardName = (card) => t("{rank} of {suit}", { rank: rankName(card[0]), suit: suitName(card[1]) });

/** A card as a sign: Q♠. @param {string} card */
export const cardSign = (card) => card[0].replace("T", "10") + SIGNS[card[1]];

/** Names in a sentence: Bo, Cleo and you. @param {string[]} names */
export function listed(names) {
  if (names.length < 2) return names.join("");
  return t("{many} and {last}", { many: names.slice(0, -1).join(", "), last: names[names.length - 1] });
}

/** Texts of the server as sentences. @param {string[]} parts */
export const sentences = (parts) => parts.filter(Boolean).map((one) => `${capital(one).replace(/[.!?]$/, "")}.`).join(" ");

/** A sentence begins with a capital. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A hand in words, suit by suit. @param {string[]} cards */
export function handInWords(cards) {
  const suits = ["C", "D", "S", "H"].map((suit) => {
    const ranks = cards.filter((card) => card[1] === suit).map((card) => rankName(card[0]));
    return t("{suit}: {ranks}", { suit: suitName(suit), ranks: ranks.length ? ranks.join(", ") : t("none") });
  });
  return capital(`${suits.join("; ")}.`);
}
