// @ts-check
/** Every text that is seen or heard, by one function, with its English as the key; and what cards are called. */

/** What another language says instead, by the English; two forms of what goes with a number. @type {Record<string, string | [string, string]>} */
let catalogue = {};
let spoken = "en";
let plural = new Intl.PluralRules(spoken);

/** Speak a language by its `texts` from now on. @param {string} code @param {typeof catalogue} texts */
export function speakBy(code, texts) {
  spoken = code;
  catalogue = texts;
  plural = new Intl.PluralRules(code);
}

/** The code of the language that is spoken. */
export const language = () => spoken;

/** A text in the reader's language, `{name}` replaced by `values.name`. @param {string} text @param {Record<string, string | number>} [values] */
export function t(text, values = {}) {
  return filled(String(catalogue[text] ?? text), values);
}

/** @param {string} text @param {Record<string, string | number>} values */
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));

/** One of two texts by a number, which both may name as `{n}`. @param {number} n @param {string} one @param {string} many @param {Record<string, string | number>} [values] */
export function counted(n, one, many, values = {}) {
  const forms = catalogue[one] ?? [one, many];
  return filled(forms[plural.select(Math.abs(n)) === "one" ? 0 : 1], { n, ...values });
}

/** @type {Record<string, string>} */
export const SIGNS = { C: "♣", D: "♦", S: "♠", H: "♥" };

/** @param {string} suit */
export function suitName(suit) {
  return { C: t("clubs"), D: t("diamonds"), S: t("spades"), H: t("hearts") }[suit] ?? suit;
}

/** @param {string} rank */
function rankName(rank) {
  const names = { 2: t("2"), 3: t("3"), 4: t("4"), 5: t("5"), 6: t("6"), 7: t("7"), 8: t("8"), 9: t("9"), T: t("10"), J: t("jack"), Q: t("queen"), K: t("king"), A: t("ace") };
  return names[/** @type {"T"} */ (rank)] ?? rank;
}

/** A card in words: queen of spades. @param {string} card */
export function cardName(card) {
  const rank = rankName(card[0]);
  const names = { C: t("{rank} of clubs", { rank }), D: t("{rank} of diamonds", { rank }), S: t("{rank} of spades", { rank }), H: t("{rank} of hearts", { rank }) };
  return names[/** @type {"C"} */ (card[1])] ?? card;
}

/** A card as a sign: Q♠. @param {string} card */
export const cardSign = (card) => card[0].replace("T", "10") + SIGNS[card[1]];

/** Names in a sentence: Bo, Cleo and you. @param {string[]} names */
export function listed(names) {
  if (names.length < 2) return names.join("");
  return t("{many} and {last}", { many: names.slice(0, -1).join(", "), last: names[names.length - 1] });
}

/** Texts of the server as sentences. @param {string[]} parts */
export const sentences = (parts) => parts.filter(Boolean).map((one) => `${capital(one).replace(/[.!?]$/, "")}.`).join(" ");

/** What is added, with its sign. @param {number} n */
export const signed = (n) => (n < 0 ? String(n) : `+${n}`);

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
