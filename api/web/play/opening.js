// @ts-check
/** The form that opens a table: family, seats, level, and who else may sit down. */

import { bePlayer, player } from "./client.js";
import { button, choice, element, fill } from "./dom.js";
import { keeps, recalled, remember } from "./memory.js";
import { showVariant } from "./rules.js";
import { takeSeat } from "./sitting.js";
import { t } from "./words.js";

/** @typedef {import("./shapes.js").Variant} Variant */
/** @typedef {{ family: string, seats: number, level: string, friends: number, others: number, length: number, clock: number }} Wish */

/** What was chosen last is kept under this name. */
const KEPT = "hearts.opening";
/** The usual game, where the server has it. */
const USUAL = "standard";

/** @returns {[string, string][]} */
function levels() {
  return [
    ["level1", t("1, a beginner")],
    ["level2", "2"],
    ["level3", "3"],
    ["level4", "4"],
    ["level5", "5"],
    ["level6", "6"],
    ["level7", t("7, strong")],
    ["rules", t("Plays by rules of thumb")],
    ["search", t("The strongest, takes its time")],
    ["random", t("Any card")],
  ];
}

/** The field for the player's name. */
export function nameField() {
  const input = document.createElement("input");
  Object.assign(input, { id: "name", maxLength: 40, autocomplete: "nickname", value: player()?.name ?? "", placeholder: t("Player") });
  const label = document.createElement("label");
  label.htmlFor = "name";
  label.append(t("Your name"));
  return { input, box: element("div", "choice", label, input), name: () => input.value.trim() || t("Player") };
}

/** @param {Variant[]} variants @param {(game: string) => void} opened @param {(error: unknown) => void} failed */
export function openingForm(variants, opened, failed) {
  /** @type {Partial<Wish>} */
  const last = recalled(KEPT) ?? {};
  const usual = [last.family, USUAL].find((name) => variants.some((one) => one.name === name)) ?? variants[0].name;
  const name = nameField();
  const family = choice(t("Game"), "family", variants.map((one) => [one.name, one.title]), usual);
  const seats = choice(t("Seats"), "seats", [[String(last.seats), ""]]);
  const level = choice(t("Level of the bots"), "level", levels(), levels().some(([name]) => name === last.level) ? last.level : "level3");
  const length = choice(t("Length"), "length", [["", t("Whole game")], ["1", t("One hand")], ["4", t("Four hands")]], String(last.length || ""));
  const friends = choice(t("Seats for friends, by a link"), "friends", []);
  const others = choice(t("Seats for anybody"), "others", []);
  const clock = choice(t("Time for a move"), "clock", [["", t("No clock")], ["30", t("30 seconds")], ["60", t("1 minute")], ["86400", t("1 day")]], String(last.clock || ""));
  const summary = element("p", "quiet");
  const settle = () => {
    const one = variants.find((variant) => variant.name === family.select.value) ?? variants[0];
    summary.textContent = one.summary;
    const kept = one.players.includes(Number(seats.select.value)) ? seats.select.value : String(one.players.includes(4) ? 4 : one.players[0]);
    fill(seats.select, one.players.map((n) => [String(n), String(n)]), kept);
    settleOthers();
  };
  const settleOthers = () => {
    const free = Number(seats.select.value) - 1;
    const upTo = (/** @type {number} */ n) => Array.from({ length: n + 1 }, (_, at) => /** @type {[string, string]} */ ([String(at), at ? String(at) : t("none")]));
    fill(friends.select, upTo(free));
    fill(others.select, upTo(free - Number(friends.select.value || 0)));
  };
  family.select.addEventListener("change", settle);
  seats.select.addEventListener("change", settleOthers);
  friends.select.addEventListener("change", settleOthers);
  settle();

  const go = button(t("Sit down"), () => {}, "strong");
  go.type = "submit";
  go.id = "sit";
  const rules = button(t("How it is played"), () => void showVariant(family.select.value, seats.select.value).catch(failed));
  rules.dataset.act = "rules";
  const more = element("details", "more", element("summary", "", t("More choices")), element("div", "fields", length.box, clock.box, friends.box, others.box));
  const kept = { always: "", tab: t("This browser keeps nothing for good: whoever closes this tab loses the seat."), never: t("This browser keeps nothing: whoever closes or reloads this page loses the seat.") }[keeps()];
  const form = document.createElement("form");
  form.className = "opening";
  form.append(element("div", "fields", name.box, family.box, seats.box, level.box), summary, element("div", "beside", more, rules), ...(kept ? [element("p", "problem", kept)] : []), go);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    try {
      await bePlayer(name.name());
      const wish = { family: family.select.value, seats: Number(seats.select.value), level: level.select.value, friends: Number(friends.select.value), others: Number(others.select.value), length: Number(length.select.value), clock: Number(clock.select.value) };
      remember(KEPT, JSON.stringify({ ...wish, friends: 0, others: 0 }));
      opened(await openTable(wish));
    } catch (error) {
      failed(error);
    } finally {
      go.disabled = false;
    }
  });
  return form;
}

/** @param {Wish} wish */
async function openTable(wish) {
  const bots = wish.seats - 1 - wish.friends - wish.others;
  const seats = ["me", ...Array(wish.friends).fill("invited"), ...Array(wish.others).fill("open"), ...Array(bots).fill({ bot: wish.level })];
  const body = await takeSeat("/v1/games", { variant: wish.family, seats, ...(wish.length ? { hand_limit: wish.length } : {}), ...(wish.clock ? { clock: wish.clock } : {}) });
  return body.id;
}
