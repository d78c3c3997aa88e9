// @ts-check
/**
 * How far a claim is shown, in steps that a reader can climb: the level, what it means, and what the next takes. The words are
 * those of `hearts verify` (services/levels.py, its twin), which also has levels of what it alone looks at.
 */

/** Where a claim stands; `level` and `top` are null where there are no steps to climb. @typedef {{ level: number | null, top: number | null, reached: string, next: string }} Level */

/** @param {number | null} level @param {number | null} top @param {string} reached @param {string[]} [steps] @returns {Level} */
function step(level, top, reached, steps = []) {
  return { level, top, reached, next: steps.length ? `to show more, ${steps.join("; and ")}` : "" };
}

/** Of a claim that fails, or of which nothing is known. @type {Level} */
export const NO_LEVEL = step(null, null, "");

/** Of claim I. @param {{ holds: boolean, keptTo: number, pinned: boolean, signatures: boolean, events: number }} shown */
export function integrityLevel({ holds, keptTo, pinned, signatures, events }) {
  if (!signatures) return step(null, null, "this browser cannot check signatures", ["use a newer one, or hearts verify"]);
  const steps = [];
  if (!keptTo) steps.push("add a receipt or checkpoint that you kept (--receipt, --checkpoint): a server can sign a changed file anew, but not take yours back");
  if (!pinned) steps.push("add the server's key from elsewhere (--server-key): then nobody can put up another server in its place");
  if (keptTo && keptTo < events) steps.push(`add a receipt of a later event than ${keptTo}: what came after it stands in this file alone`);
  if (!holds) return step(0, 3, "the events fit together, and nothing signed shows that they are the ones that were played", steps);
  const own = `by what you kept, up to event ${keptTo}`;
  if (keptTo) return pinned ? step(3, 3, `${own}, under a key that you know`, steps) : step(2, 3, own, steps);
  if (pinned) return step(2, 3, "by the word, in this file, of a server whose key you know", steps);
  return step(1, 3, "only this file's own server says so", steps);
}

/** Of a duplicate table whose hands wait for the other tables. @param {number} top */
export const sealedLevel = (top) => step(0, top, "the cards are sealed", ["check again when every table of the group has finished the hand"]);

/** Of claim F. @param {number[]} persons their seats @param {number[]} contributed those of them that put something into the deals @param {number} hands that are over */
export function fairnessLevel(persons, contributed, hands) {
  if (!hands) return step(0, 2, "nothing shows yet how the deals came about", ["check again when a hand is over"]);
  const others = persons.filter((seat) => !contributed.includes(seat));
  const join = "have to contribute when they sit down at the next table, as hearts play does";
  if (contributed.length === 0) return step(0, 2, "the server alone decided the deals", [`the players' clients ${join}`]);
  const seats = `${others.length === 1 ? "seat" : "seats"} ${others.join(", ")}`;
  if (others.length) return step(1, 2, `the deals were fixed before play, and ${seats} had no part in them: there it is the others' word`, [`the clients of ${seats} ${join}`]);
  return step(2, 2, "the deals were fixed before play, and every person had a part in them that nobody could foresee");
}

/** Of claims R and B, which this page leaves to hearts verify. */
export const NOT_HERE = step(null, null, "not looked at here", ["let hearts verify look at the same file"]);
