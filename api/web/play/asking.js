// @ts-check
/** Choices that are made once: what a moon does, and a claim of the rest; with what each would lead to, as the server tells it. */

import { button, element, openDialog } from "./dom.js";
import { capital, counted, listed, signed, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./shapes.js").Outcome} Outcome */
/** @typedef {import("./shapes.js").Claim} Claim */

/** Ask which way. @param {Scene} scene @param {(choice: "add" | "subtract") => void} choose */
export function askMoon(scene, choose) {
  /** @param {"add" | "subtract"} way @param {string} words */
  const card = (way, words) => {
    const go = button(words, () => {
      dialog.close();
      choose(way);
    }, "strong");
    go.dataset.moon = way;
    const outcome = scene.table.moon?.[way];
    return element("article", "way", ...(outcome ? [sheet(scene, outcome.points, outcome.totals), element("p", "quiet", then(scene, outcome))] : []), go);
  };
  const ways = element("div", "ways", card("add", t("Give it to the others")), card("subtract", t("Take it off mine")));
  const dialog = openDialog(t("You shot the moon!"), [element("p", "", t("What should it do?")), ways], "moon");
  return dialog;
}

/** Ask whether the rest is to be claimed. @param {Scene} scene @param {Claim} claim @param {() => void} go */
export function askClaim(scene, { tricks, points }, go) {
  const yes = button(t("Claim"), () => {
    dialog.close();
    go();
  }, "strong");
  yes.dataset.act = "claimed";
  const no = button(t("Play on"), () => dialog.close());
  const words = counted(tricks, "The last {n} trick is yours, whatever the others play.", "The last {n} tricks are yours, whatever the others play.");
  const what = points ? [element("p", "", t("The hand then adds:")), sheet(scene, points)] : [element("p", "", t("What the hand adds will be known when it is over."))];
  const dialog = openDialog(t("Claim the rest"), [element("p", "", words), ...what, element("div", "answers", yes, no)], "claim");
  return dialog;
}

/** What each seat is given, and the totals after that where they are known. @param {Scene} scene @param {number[]} points @param {number[]} [totals] */
function sheet(scene, points, totals) {
  const rows = scene.table.seats.map(({ seat }) => {
    const who = element("th", "", capital(scene.who(seat)));
    who.setAttribute("scope", "row");
    const total = totals ? [element("td", "", String(scene.table.totals[seat])), element("td", "", "→"), element("td", "", String(totals[seat]))] : [];
    return element("tr", "", who, element("td", "added", signed(points[seat])), ...total);
  });
  return element("table", "totals", element("tbody", "", ...rows));
}

/** @param {Scene} scene @param {Outcome} outcome */
function then(scene, outcome) {
  if (!outcome.over) return t("Then the game goes on.");
  return t("Then the game is over. Winning: {names}.", { names: listed(outcome.winners.map((seat) => scene.who(seat))) });
}
