// @ts-check
/** Which language the page speaks: the one that was chosen here, else the first of the browser's that we have. */

import { remember, remembered } from "./memory.js";
import { byId, choice } from "./dom.js";
import { speakBy, t } from "./words.js";

const KEPT = "hearts.language";
const ENGLISH = "en";
/** As each calls itself. @type {[string, string][]} */
const LANGUAGES = [["el", "Ελληνικά"], [ENGLISH, "English"], ["fi", "Suomi"], ["is", "Íslenska"], ["sv", "Svenska"]];

/** The code of the language that is to be spoken. */
function wanted() {
  const codes = LANGUAGES.map(([code]) => code);
  const asked = [remembered(KEPT) ?? "", ...navigator.languages].map((tag) => tag.split("-")[0]);
  return asked.find((code) => codes.includes(code)) ?? ENGLISH;
}

/** Speak the language of the reader; English where its texts cannot be had. */
export async function speak() {
  const code = wanted();
  try {
    const texts = code === ENGLISH ? {} : await (await fetch(`/play/texts/${code}.json`)).json();
    speakBy(code, texts);
    document.documentElement.lang = code;
  } catch {
    speakBy(ENGLISH, {});
    document.documentElement.lang = ENGLISH;
  }
  byId("skip", HTMLElement).textContent = t("To the table");
  byId("about", HTMLElement).textContent = t("About");
  byId("live", HTMLElement).setAttribute("aria-label", t("What happens at the table"));
}

/** The choice of a language. @param {() => void} changed what is to be done when another one is spoken */
export function languageChoice(changed) {
  const { select, box } = choice(t("Language"), "language", LANGUAGES, document.documentElement.lang);
  box.querySelector("label")?.classList.add("unseen");
  for (const option of select.options) option.lang = option.value;
  select.addEventListener("change", async () => {
    remember(KEPT, select.value);
    await speak();
    box.replaceWith(languageChoice(changed));
    byId("language", HTMLElement).focus();
    changed();
  });
  return box;
}
