// @ts-check
/** The page /: the lobby, or the table that the address names behind its #, where no server logs an invitation. */

import { byId, sheet } from "./dom.js";
import { Game } from "./game.js";
import { languageChoice, speak } from "./language.js";
import { Lobby } from "./lobby.js";

/** What is shown. @type {{ close(): void } | null} */
let shown = null;
/** Counts the addresses, so that a page that loads late knows whether it is still wanted. */
let turn = 0;

function route() {
  shown?.close();
  const main = byId("main", HTMLElement);
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  main.replaceChildren();
  turn += 1;
  const [path, query] = location.hash.split("?");
  const [, where, game, code] = path.split("/");
  if (where === "replay" && game) {
    shown = null;
    void replay(main, decoded(game), new URLSearchParams(query), turn);
    return;
  }
  shown = where === "table" && game ? new Game(main, decoded(game), code ?? "") : new Lobby(main);
}

/** What an address means; one that is spoilt is taken as it stands, and names nothing. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What looks at a game again is loaded only when it is wanted. @param {HTMLElement} main @param {string} game @param {URLSearchParams} asked @param {number} at */
async function replay(main, game, asked, at) {
  const { Replay } = await import("./replay.js");
  sheet("/play/replay.css");
  if (at === turn) shown = new Replay(main, game, asked);
}

await speak();
byId("choices", HTMLElement).prepend(languageChoice(route));
addEventListener("hashchange", route);
route();
