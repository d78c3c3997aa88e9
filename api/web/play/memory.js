// @ts-check
/** What this browser remembers from one visit to the next, and all its tabs together. */

/** What the browser itself does not keep: it lasts as long as the page. @type {Map<string, string>} */
const passing = new Map();

/** @param {string} name */
export function remembered(name) {
  try {
    return localStorage.getItem(name) ?? passing.get(name) ?? ofThisTab(name);
  } catch {
    return passing.get(name) ?? ofThisTab(name);
  }
}

/** What was kept for this tab alone, where the browser keeps nothing for all of them. @param {string} name */
function ofThisTab(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value @returns {boolean} whether this tab keeps it */
function keepInTab(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

/** Whether this browser keeps things when it is closed, or the page is loaded again, at all. @returns {"always" | "tab" | "never"} */
export function keeps() {
  const probe = "hearts.probe";
  try {
    localStorage.setItem(probe, "1");
    localStorage.removeItem(probe);
    return "always";
  } catch {
    return keepInTab(probe, "1") && keepInTab(probe, null) ? "tab" : "never";
  }
}

/** @param {string} name @param {string | null} value null forgets it */
export function remember(name, value) {
  passing.delete(name);
  keepInTab(name, null);
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    if (!keepInTab(name, value) && value !== null) passing.set(name, value);
  }
}

/** Something that was kept as JSON; null where there is none that can be read. @param {string} name @returns {any} */
export function recalled(name) {
  try {
    return JSON.parse(remembered(name) ?? "null");
  } catch {
    return null;
  }
}

/** Practice tables that were opened here, the newest last. */
const PRACTICE = "hearts.practice";

/** @returns {string[]} ids of games */
export const practised = () => recalled(PRACTICE) ?? [];

/** Remember that a game is for practice, of so many as a list shows. @param {string} game */
export function rememberPractice(game) {
  remember(PRACTICE, JSON.stringify([...practised(), game].slice(-60)));
}

/** Keep no more than so many things whose names begin alike: those with the latest `at` stay. @param {string} prefix @param {number} most */
export function forgetOldest(prefix, most) {
  const names = [...passing.keys(), ...storedNames()].filter((name) => name.startsWith(prefix));
  if (names.length <= most) return;
  const byAge = names.map((name) => /** @type {[number, string]} */ ([recalled(name)?.at ?? 0, name])).sort(([one], [other]) => one - other);
  for (const [, name] of byAge.slice(0, -most)) remember(name, null);
}

function storedNames() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}
