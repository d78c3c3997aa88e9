// @ts-check
/**
 * JSON that every reader reads alike: what is published is read as this, or not at all (docs/audit.md). A key that stands
 * twice, numbers that are not written as whole ones up to 2^53 - 1, half a surrogate pair: readers could see different things in them.
 */

/** @typedef {import("./verify-formulas.js").Bytes} Bytes */

const MOST_LEVELS = 64;
const MOST_VALUES = 65536;
const NO_UTF8 = "it is no UTF-8";
const TOO_MANY = `it has more than the ${MOST_VALUES} values that are read`;
const TOO_DEEP = `it is nested more than ${MOST_LEVELS} deep`;
const NO_JSON = "it is no JSON";
const ODD_NUMBER = "a number in it is not written as a whole one up to 2^53 - 1";
const HALF_PAIR = "a text in it has half of a surrogate pair";
const TWICE = "a key stands twice in an object in it";
/** Of several faults the first is told that stands above. */
const IN_ORDER = [ODD_NUMBER, HALF_PAIR, TWICE];
/** What is said of an event instead. @type {Record<string, string>} */
export const OF_EVENTS = {
  [NO_UTF8]: "an event is UTF-8, and this is not",
  [TOO_DEEP]: `an event is nested ${MOST_LEVELS} deep at most, and this is deeper`,
  [NO_JSON]: "an event is a JSON object, and this is none",
};
/** What is said of bytes that are no JSON at all. */
export const NOT_JSON = [NO_UTF8, NO_JSON];
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes that are not JSON, or not such that everybody reads it alike; the message says why. */
export class NotPlain extends Error {}

/** The value that is written in `data`. Throws `NotPlain`. @param {Bytes} data @returns {any} */
export function readPlain(data) {
  const text = tried(() => DECODER.decode(data), NO_UTF8);
  const { values, levels } = measure(text);
  if (values > MOST_VALUES) throw new NotPlain(TOO_MANY);
  if (levels > MOST_LEVELS) throw new NotPlain(TOO_DEEP);
  const value = tried(() => JSON.parse(text), NO_JSON);
  const faults = faultsOf(text);
  const why = IN_ORDER.find((one) => faults.has(one));
  if (why !== undefined) throw new NotPlain(why);
  return value;
}

/** @template T @param {() => T} read @param {string} why @returns {T} */
function tried(read, why) {
  try {
    return read();
  } catch {
    throw new NotPlain(why);
  }
}

/** Where the string that begins at `at` ends: behind its last mark, or where the text does. @param {string} text @param {number} at */
function endOfString(text, at) {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return Math.min(end + 1, text.length);
}

/** How many commas and opening brackets a text has, and how deep those outside of strings are nested, be it JSON or not. @param {string} text */
function measure(text) {
  let [values, levels, level] = [0, 0, 0];
  for (const mark of text) if (mark === "," || mark === "[" || mark === "{") values++;
  if (values <= MOST_LEVELS) return { values, levels: values };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"') at = endOfString(text, at) - 1;
    else if (mark === "[" || mark === "{") levels = Math.max(levels, ++level);
    else if (mark === "]" || mark === "}") level--;
  }
  return { values, levels };
}

/** What readers could see differently in a text that is JSON. @param {string} text @returns {Set<string>} */
function faultsOf(text) {
  const faults = new Set();
  /** The keys so far of each object that is open, null for a list. @type {(Set<string> | null)[]} */
  const open = [];
  const number = /-?[0-9][-+.eE0-9]*/y;
  const colon = /[ \t\n\r]*:/y;
  for (let at = 0; at < text.length; ) {
    const mark = text[at];
    const start = at++;
    if (mark === '"') {
      at = endOfString(text, start);
      const written = text.slice(start, at);
      const told = written.includes("\\") ? JSON.parse(written) : written.slice(1, -1);
      if (/\p{Surrogate}/u.test(told)) faults.add(HALF_PAIR);
      colon.lastIndex = at;
      const keys = colon.test(text) ? open[open.length - 1] : null;
      if (keys?.has(told)) faults.add(TWICE);
      keys?.add(told);
    } else if (mark === "{" || mark === "[") {
      open.push(mark === "{" ? new Set() : null);
    } else if (mark === "}" || mark === "]") {
      open.pop();
    } else if (mark === "-" || ("0" <= mark && mark <= "9")) {
      number.lastIndex = start;
      const [written] = /** @type {RegExpExecArray} */ (number.exec(text));
      at = number.lastIndex;
      if (!/^(?:0|-?[1-9][0-9]*)$/.test(written) || !Number.isSafeInteger(Number(written))) faults.add(ODD_NUMBER);
    }
  }
  return faults;
}
