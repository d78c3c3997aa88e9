// @ts-check
/** What the pages /verify and /audit have in common: elements, and the claims in words for players. */

export const QUESTIONS = {
  F: "Was the shuffle fair?",
  I: "Is every event as it happened?",
  R: "Did all play by the rules?",
  B: "Did the house bots play honestly?",
};
export const FAILS = {
  F: "The deals are not what the server committed to before play, or somebody's part in the shuffle was not used as it was given.",
  I: "These are not the events that the server has signed or numbered: they were changed, left out, moved or cut off.",
  R: "The file is not what a server of this kind writes.",
  B: "",
};

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** @param {string} name @param {string} className @param {(Node | string)[]} inside */
export function element(name, className, ...inside) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...inside);
  return made;
}

/** @param {string} address @param {string} words */
export function link(address, words) {
  const made = document.createElement("a");
  made.href = address;
  made.append(words);
  return made;
}

/** @param {string} what @param {string} [hint] */
export function problemBox(what, hint) {
  const box = element("div", "problem", element("strong", "", what));
  if (hint) box.append(element("p", "", hint));
  return box;
}

/** What only the file's own server says, which is not told as what holds. @param {{ name: string, status: string, level?: number | null }} claim */
export const isByServer = (claim) => claim.name === "I" && claim.status === "holds" && claim.level === 1;

/**
 * @param {{ name: string, status: string, level?: number | null }} claim @param {string} reached @param {string} next @param {string} said
 * @param {{ question: string, badge: string }} [words] in another language
 */
export function claimBox(claim, reached, next, said, words) {
  const byServer = isByServer(claim);
  const box = element("article", `claim ${claim.status === "not shown" || byServer ? "open" : claim.status}`);
  box.dataset.claim = claim.name;
  const { question, badge } = words ?? { question: QUESTIONS[/** @type {"F"} */ (claim.name)], badge: byServer ? "its server says so" : claim.status };
  box.append(element("h3", "", question, element("span", "badge", badge)), element("p", "level", element("b", "", reached)));
  if (next) box.append(element("p", "", next));
  if (said) box.append(element("p", "said", said));
  return box;
}
