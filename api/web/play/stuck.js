// @ts-check
/** What is shown in the place of a table or a game that there is none of, or that cannot be had. */

import { fan } from "./cards.js";
import { Refusal } from "./client.js";
import { button, element, link } from "./dom.js";
import { t } from "./words.js";

/** @param {Error} error @param {() => void} again */
export function stuck(error, again) {
  const unknown = error instanceof Refusal && error.status === 404;
  const words = element("p", "", unknown ? t("There is no such table here. Perhaps the link was cut off, or the game was never played.") : error.message);
  words.setAttribute("role", "alert");
  const ways = element("div", "ways-out", link("/#/", t("To the lobby")), ...(unknown ? [] : [button(t("Try again"), again, "strong")]));
  return element("div", "stuck", fan(["back", "back", "back"]), element("h1", "", unknown ? t("No table") : t("That did not work")), words, ways);
}
