// @ts-check
/** The rules of a table, or of a variant, in the reader's language, as the server makes them of its rule set. */

import { at, call } from "./client.js";
import { element, openDialog } from "./dom.js";
import { language, t } from "./words.js";

/** @param {string} game @param {string} variant the name that only programs ask by */
export async function showRules(game, variant) {
  const { body } = await call("GET", at(game, `/rules?language=${language()}`));
  tellRules(body.title.replace(` (${variant})`, ""), body);
}

/** @param {string} variant @param {string} seats how many */
export async function showVariant(variant, seats) {
  const { body } = await call("GET", `/v1/variants/${variant}?players=${seats}&language=${language()}`);
  tellRules(body.title, body);
}

/** @param {string} title @param {{ summary: string, sections: { heading: string, sentences: string[] }[] }} told */
function tellRules(title, { summary, sections }) {
  const parts = sections.map((one) => element("section", "", element("h3", "", one.heading), element("p", "", one.sentences.join(" "))));
  const dialog = openDialog(t("Rules"), [element("p", "rule-title", title), element("p", "quiet", summary), ...parts], "rules");
  dialog.classList.add("reading");
}
