// @ts-check
/** The rules of a table in the reader's language, as the server makes them of its rule set. */

import { at, call } from "./client.js";
import { element, openDialog } from "./dom.js";
import { language, t } from "./words.js";

/** @param {string} game */
export async function showRules(game) {
  const { body } = await call("GET", at(game, `/rules?language=${language()}`));
  const sections = body.sections.map((/** @type {{ heading: string, sentences: string[] }} */ one) => element("section", "", element("h3", "", one.heading), element("p", "", one.sentences.join(" "))));
  const dialog = openDialog(t("Rules"), [element("p", "rule-title", body.title), element("p", "quiet", body.summary), ...sections], "rules");
  dialog.classList.add("reading");
}
