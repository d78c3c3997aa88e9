// @ts-check
/** What can be done at a table besides playing a card: the row of tools, and the line that asks and offers. */

import { player } from "./client.js";
import { button, choice, element, link } from "./dom.js";
import { showKeys } from "./keyboard.js";
import { nameField } from "./opening.js";
import { setSpeed, speed, speedChoices } from "./pace.js";
import { ending, passTo, waiting } from "./telling.js";
import { capital, counted, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {{ scores(): void, last(): void, hint(): void, claim(): void, pass(): void, ready(): void, leave(): void, back(): void, sit(name: string): void, rematch(): void, moon(): void, rules(): void, fair(check?: boolean): void, anew(): void, isLost: boolean, name?: ReturnType<typeof nameField> }} Acts */

/** The row of tools, once a table. @param {Acts} acts */
export function toolRow(acts) {
  const pace = choice(t("Speed"), "speed", speedChoices(), speed());
  pace.select.addEventListener("change", () => setSpeed(pace.select.value));
  const hint = named(button(t("Hint"), () => acts.hint()), "hint");
  const leave = named(button(t("Let a bot play"), () => acts.leave()), "leave");
  const share = named(button(t("Copy the address"), () => copy(location.href.split("/").slice(0, 6).join("/"), share)), "share");
  const fair = named(button(t("Fair deal"), () => acts.fair()), "fair");
  const inside = element("div", "drawer", pace.box, fair, leave, share, button(t("Keys"), showKeys));
  const more = element("details", "more", element("summary", "", t("More")), inside);
  inside.addEventListener("click", (event) => {
    if (event.target instanceof HTMLButtonElement && event.target !== share) more.removeAttribute("open");
  });
  const row = element("div", "tools", named(button(t("Scores"), () => acts.scores()), "scores"), named(button(t("Last trick"), () => acts.last()), "last"), named(button(t("Rules"), () => acts.rules()), "rules"), hint, more);
  /** @param {Scene} scene */
  const settle = (scene) => {
    const { table, isMine } = scene;
    const playing = table.status === "playing";
    hint.hidden = !table.hints || !playing || scene.you === undefined;
    leave.hidden = !isMine || !playing;
    leave.textContent = t("Let a bot play");
  };
  return { row, settle };
}

/** @param {HTMLButtonElement} one @param {string} name */
function named(one, name) {
  one.dataset.act = name;
  return one;
}

/** @param {string} text @param {HTMLButtonElement} said */
async function copy(text, said) {
  const words = said.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = t("Copied");
  } catch {
    prompt(t("Copy this:"), text); // a page that came without TLS has no clipboard
  }
  setTimeout(() => (said.textContent = words), 2000);
}

/** What is asked of the reader now, and what there is to press. @param {Scene} scene @param {Acts} acts @param {number} raised */
export function askParts(scene, acts, raised) {
  const { table, you, isMine } = scene;
  if (table.phase === "over") return overParts(scene, acts);
  if (you === undefined) return strangerParts(scene, acts);
  if (table.phase === "seats") return seatParts(scene, acts);
  if (!isMine) {
    const coming = table.seats[you].returning;
    if (coming) return [asking(t("You play again from the next hand on."))];
    return [asking(t("The stand-in bot plays for you.")), named(button(t("Take my seat back"), () => acts.back(), "strong"), "back")];
  }
  if (table.phase === "pass" && !table.seats[you].passed) return passParts(scene, acts, raised);
  if (table.phase === "moon" && table.turn === you) return [asking(t("You shot the moon!")), named(button(t("Choose"), () => acts.moon(), "strong"), "moon")];
  if (table.legal) return playParts(scene, acts);
  return [asking(waiting(scene))];
}

/** @param {Acts} acts @param {string} words */
const checkButton = (acts, words) => named(button(words, () => acts.fair(true)), "check");

/** @param {string} words @param {string} [className] */
const asking = (words, className = "") => element("span", `prompt ${className}`.trim(), words);

/** @param {Scene} scene @param {Acts} acts */
function playParts({ table }, acts) {
  const parts = [asking(table.trick.length ? t("Your turn: play a card.") : t("You lead: play a card."), "mine")];
  const { claim } = table;
  // a last trick is as soon played as claimed
  if (claim && claim.tricks > 1) parts.push(named(button(t("Claim the last {n} tricks", { n: claim.tricks }), () => acts.claim()), "claim"));
  return parts;
}

/** @param {Scene} scene @param {Acts} acts @param {number} raised */
function passParts(scene, acts, raised) {
  const count = scene.table.rules.pass_count;
  const words = counted(count, "Pass {n} card {way}.", "Pass {n} cards {way}.", { way: passTo(scene) });
  const go = named(button(raised < count ? t("{n} of {all} raised", { n: raised, all: count }) : t("Pass"), () => acts.pass(), "strong"), "pass");
  go.setAttribute("aria-disabled", String(raised !== count));
  return [asking(words, "mine"), go, ...(scene.gained ? [checkButton(acts, t("Check the hand"))] : [])];
}

/** @param {Scene} scene @param {Acts} acts */
function seatParts(scene, acts) {
  const { table } = scene;
  const you = /** @type {number} */ (scene.you);
  const parts = [asking(waiting(scene))];
  const links = (table.invitations ?? []).map(({ seat, code }) => {
    const address = `${location.origin}/#/table/${table.id}/${code}`;
    const one = button(t("Copy the link to seat {n}", { n: seat + 1 }), () => copy(address, one));
    one.dataset.link = address;
    return named(one, "invite");
  });
  parts.push(...links);
  if (acts.isLost) parts.push(...lostParts(scene, acts));
  else if (table.seats.every((one) => one.kind !== "open") && !table.seats[you].ready) parts.push(named(button(t("I am ready"), () => acts.ready(), "strong"), "ready"));
  parts.push(named(button(t("Fair deal"), () => acts.fair()), "fair"));
  if (!table.seats.some((one) => one.ready && one.kind === "player")) parts.push(named(button(t("Stand up"), () => acts.leave()), "leave"));
  return parts;
}

/** Where the seat was taken with a number that this browser does not have. @param {Scene} scene @param {Acts} acts */
function lostParts({ table }, acts) {
  if (table.seats.some((one) => one.ready && one.kind === "player")) return [asking(t("Your number is not in this browser: when the time to get ready is over the cards are dealt without it."))];
  return [asking(t("Your number is not in this browser, so you cannot get ready with it.")), named(button(t("Sit down anew with another number"), () => acts.anew(), "strong"), "anew")];
}

/** @param {Scene} scene @param {Acts} acts */
function strangerParts(scene, acts) {
  const free = scene.table.seats.some((one) => one.kind === "open");
  if (!free) return [asking(t("You are watching. {what}", { what: waiting(scene) }))];
  const name = (acts.name ??= nameField());
  name.input.dataset.act = "name";
  const go = named(button(t("Sit down"), () => acts.sit(name.name()), "strong"), "sit");
  return [asking(t("A seat is free.")), ...(player() ? [] : [name.box]), go];
}

/** @param {Scene} scene @param {Acts} acts */
function overParts(scene, acts) {
  const { table, you } = scene;
  const { places } = table;
  const order = table.seats.map((one) => one.seat).sort((one, other) => places[one] - places[other]);
  const rows = order.map((seat) => element("li", table.winners.includes(seat) ? "won" : "", `${places[seat]}. ${capital(scene.who(seat))} `, element("b", "", String(table.totals[seat]))));
  const parts = [element("h2", "ending", ending(scene)), element("ol", "ranks", ...rows)];
  const again = you !== undefined && !table.branch && !table.imported && table.reason !== "abandoned";
  if (again) parts.push(named(button(t("Rematch"), () => acts.rematch(), "strong"), "rematch"));
  parts.push(checkButton(acts, t("Check this game")), link(`/#/replay/${table.id}?open=1`, t("Look at it again")), link("/#/", t("To the lobby")));
  return parts;
}
