// @ts-check
/** The page /: the lobby, or the table that the address names behind its #, where no server logs an invitation. */

import { byId } from "./dom.js";
import { Game } from "./game.js";
import { languageChoice, speak } from "./language.js";
import { Lobby } from "./lobby.js";

/** What is shown. @type {{ close(): void } | null} */
let shown = null;

function route() {
  shown?.close();
  const main = byId("main", HTMLElement);
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  main.replaceChildren();
  const [, where, game, code] = location.hash.split("/");
  shown = where === "table" && game ? new Game(main, decodeURIComponent(game), code ?? "") : new Lobby(main);
}

await speak();
byId("choices", HTMLElement).prepend(languageChoice(route));
addEventListener("hashchange", route);
route();
