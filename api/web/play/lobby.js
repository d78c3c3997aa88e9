// @ts-check
/** The lobby: a quick game, tables with a free seat, and the player's own games. */

import { fan } from "./cards.js";
import { call, player } from "./client.js";
import { element, link } from "./dom.js";
import { practised } from "./memory.js";
import { openingForm } from "./opening.js";
import { variants } from "./variants.js";
import { counted, language, t } from "./words.js";

/** @typedef {import("./shapes.js").Summary} Summary */

/** Milliseconds between two looks at the lists. */
const EVERY = 5000;
const MOST = 20;

export class Lobby {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.tables = element("ul", "games");
    this.mine = element("ul", "games");
    this.problem = element("p", "problem");
    this.problem.setAttribute("role", "alert");
    this.problem.hidden = true;
    this.quick = element("section", "panel", element("h2", "", t("A quick game")));
    this.closed = false;
    /** What the variants are called. @type {Map<string, string>} */
    this.titles = new Map();
    const mine = element("section", "panel mine", element("h2", "", t("My games")), this.mine);
    const tables = element("section", "panel tables", element("h2", "", t("Open tables")), this.tables);
    root.append(element("div", "lobby", welcome(), this.problem, this.quick, element("div", "lists", mine, tables)));
    document.title = t("Hearts");
    this.begin();
    this.timer = setInterval(() => document.hidden || this.refresh(), EVERY);
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
  }

  async begin() {
    await this.offer();
    await this.refresh();
  }

  async offer() {
    try {
      const found = await variants();
      this.titles = new Map(found.map((one) => [one.name, one.title]));
      this.quick.append(openingForm(found, (game) => (location.hash = `#/table/${game}`), (error) => this.fail(error)));
    } catch (error) {
      this.fail(error);
    }
  }

  async refresh() {
    const me = player();
    try {
      const [open, mine, turns] = await Promise.all([
        call("GET", `/v1/games?status=open&limit=${MOST}`),
        me ? call("GET", `/v1/games?player=${encodeURIComponent(me.id)}&limit=${MOST}`) : null,
        me ? call("GET", "/v1/me/turns") : null,
      ]);
      if (this.closed) return;
      const waits = new Set((turns?.body.turns ?? []).map((/** @type {{ game: string }} */ one) => one.game));
      this.list(this.tables, open.body.games.filter((/** @type {Summary} */ game) => !isAt(game, me?.id) && free(game)), () => t("Sit down"), t("No table waits for players now. Open one yourself."));
      this.list(this.mine, mine?.body.games ?? [], (game) => whereItStands(game, waits.has(game.id), me?.id), t("None yet."));
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param {HTMLElement} into @param {Summary[]} games @param {(game: Summary) => string} tell @param {string} none */
  list(into, games, tell, none) {
    if (!games.length) {
      into.replaceChildren(element("li", "quiet", none));
      return;
    }
    const held = into.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    const rows = games.map((game) => {
      const n = free(game);
      const state = n && game.status === "open" ? counted(n, "{n} free seat", "{n} free seats") : "";
      const row = link(game.status === "over" ? `/#/replay/${game.id}` : `/#/table/${game.id}`, "");
      const where = element("span", "where", [practised().includes(game.id) ? t("practice") : "", state, tell(game)].filter(Boolean).join(" · "));
      row.append(element("b", "", this.titles.get(game.variant) ?? t("House rules")), where, element("span", "who", whoSits(game)), element("time", "when", when(game.updated_at)));
      return element("li", "", row);
    });
    into.replaceChildren(...rows);
    // the list is made anew every few seconds, under who goes through it by the keyboard too
    if (held) /** @type {HTMLElement | null} */ (into.querySelector(`[href="${CSS.escape(held)}"]`))?.focus();
  }

  /** @param {unknown} error */
  fail(error) {
    this.problem.textContent = /** @type {Error} */ (error).message;
    this.problem.hidden = false;
  }
}

/** @param {Summary} game @param {string | undefined} id */
const isAt = (game, id) => game.seats.some((seat) => id && seat.player === id);

/** How many seats are free. @param {Summary} game */
const free = (game) => game.seats.filter((seat) => seat.kind === "open").length;

/** @param {number} ms */
const when = (ms) => new Intl.DateTimeFormat(language(), { dateStyle: "medium", timeStyle: "short" }).format(ms);

function welcome() {
  const words = element("div", "", element("h1", "", t("A game of Hearts?")), element("p", "", t("Take no hearts, and beware of the queen of spades.")));
  return element("header", "welcome", words, fan(["TH", "JC", "QS", "KD", "AH"]));
}

/** The people at a table by name, the bots by number. @param {Summary} game */
function whoSits(game) {
  const bots = game.seats.filter((seat) => seat.kind === "bot").length;
  const people = game.seats.filter((seat) => seat.kind === "player").map((seat) => seat.name);
  return [...people, ...(bots ? [counted(bots, "{n} bot", "{n} bots")] : [])].join(", ");
}

/** @param {Summary} game @param {boolean} waits @param {string | undefined} id the reader's */
function whereItStands(game, waits, id) {
  const mine = game.seats.find((seat) => seat.player === id)?.seat;
  if (game.status === "over") return [mine !== undefined && game.winners.includes(mine) ? t("★ won") : t("over"), totalsFrom(game, mine)].filter(Boolean).join(" · ");
  if (waits) return t("your turn");
  return game.status === "open" ? t("waits for players") : t("hand {n}", { n: game.hand_number });
}

/** The totals, the reader's first. @param {Summary} game @param {number | undefined} mine */
function totalsFrom({ totals }, mine) {
  const from = mine ?? 0;
  return [...totals.slice(from), ...totals.slice(0, from)].join(" : ");
}
