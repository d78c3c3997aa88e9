// @ts-check
/** The choice of who shot the moon, with what each way would lead to, as the server tells it. */

import { button, element, openDialog } from "./dom.js";
import { capital, listed, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./shapes.js").Outcome} Outcome */

/** Ask which way. @param {Scene} scene @param {(choice: "add" | "subtract") => void} choose */
export function askMoon(scene, choose) {
  /** @param {"add" | "subtract"} way @param {string} words @param {string} what */
  const card = (way, words, what) => {
    const go = button(words, () => {
      dialog.close();
      choose(way);
    }, "strong");
    go.dataset.moon = way;
    const outcome = scene.table.moon?.[way];
    return element("article", "way", element("h3", "", what), ...(outcome ? [sheet(scene, outcome), element("p", "quiet", then(scene, outcome))] : []), go);
  };
  const x = scene.table.rules.moon_x;
  const ways = element(
    "div",
    "ways",
    card("add", t("Give it to the others"), t("{n} points for everybody else", { n: x })),
    card("subtract", t("Take it off mine"), t("{n} points off your own total", { n: x })),
  );
  const dialog = openDialog(t("You shot the moon!"), [element("p", "", t("What should it do?")), ways], "moon");
  return dialog;
}

/** @param {Scene} scene @param {Outcome} outcome */
function sheet(scene, outcome) {
  const rows = scene.table.seats.map(({ seat }) =>
    element("tr", "", element("th", "", capital(scene.who(seat))), element("td", "", String(scene.table.totals[seat])), element("td", "", "→"), element("td", "", String(outcome.totals[seat]))),
  );
  return element("table", "totals", element("tbody", "", ...rows));
}

/** @param {Scene} scene @param {Outcome} outcome */
function then(scene, outcome) {
  if (!outcome.over) return t("Then the game goes on.");
  return t("Then the game is over. Winning: {names}.", { names: listed(outcome.winners.map((seat) => scene.who(seat))) });
}
