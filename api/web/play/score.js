// @ts-check
/** The score sheet: points by hand and seat, which way cards were passed, moons, and the totals as a chart. */

import { chartOf } from "./chart.js";
import { element, openDialog } from "./dom.js";
import { passWay } from "./telling.js";
import { capital, t } from "./words.js";

/** @typedef {import("./scene.js").Scene} Scene */
/** @typedef {import("./shapes.js").Hand} Hand */

/** Seats above which a sheet has a row a seat. */
const MANY = 6;

/** @param {Scene} scene */
export function showScores(scene) {
  return openDialog(t("Scores"), scoreParts(scene), "scores");
}

/** @param {Scene} scene */
export function scoreParts(scene) {
  const { table } = scene;
  /** @type {Element[]} */
  const parts = [element("div", "wide", sheetOf(scene))];
  if (table.hands.length > 1) parts.push(chartOf(table.hands.map((one) => one.totals), table.seats.map(({ seat }) => capital(scene.who(seat)))));
  if (table.hands.some((one) => typeof one.moon === "number")) parts.push(element("p", "quiet", t("☾ shot the moon")));
  return parts;
}

/** A row a hand; at a large table a row a seat, which a phone has the width for. @param {Scene} scene */
function sheetOf(scene) {
  const { table } = scene;
  if (table.seats.length > MANY) return longSheet(scene);
  const heads = [t("Hand"), t("Pass"), ...table.seats.map(({ seat }) => capital(scene.who(seat)))];
  const head = element("thead", "", element("tr", "", ...heads.map((words) => columnHead(words))));
  const rows = table.hands.map((hand) => {
    const cells = hand.points.map((_, seat) => element("td", "", scored(hand, seat)));
    return element("tr", "", rowHead(String(hand.hand)), element("td", "", wayOf(hand)), ...cells);
  });
  const totals = table.totals.map((n, seat) => element("td", best(scene, seat), String(n)));
  const foot = element("tfoot", "", element("tr", "", rowHead(t("Total")), element("td", ""), ...totals));
  return element("table", "sheet", head, element("tbody", "", ...rows), foot);
}

/** @param {Scene} scene */
function longSheet(scene) {
  const { table } = scene;
  const heads = [t("Seat"), t("Total"), ...table.hands.map(({ hand }) => t("hand {n}", { n: hand }))];
  const ways = table.hands.map((hand) => element("td", "", wayOf(hand)));
  const head = element("thead", "", element("tr", "", ...heads.map((words) => columnHead(words))), element("tr", "", rowHead(t("Pass")), element("td", ""), ...ways));
  const rows = table.seats.map(({ seat }) => {
    const total = element("td", best(scene, seat), String(table.totals[seat]));
    return element("tr", "", rowHead(capital(scene.who(seat))), total, ...table.hands.map((hand) => element("td", "", scored(hand, seat))));
  });
  return element("table", "sheet long", head, element("tbody", "", ...rows));
}

/** What marks the lead, once there is one. @param {Scene} scene @param {number} seat */
const best = ({ table }, seat) => (table.hands.length && table.places[seat] === 1 ? "best" : "");

/** Points of a hand, with a moon before them where the seat shot it. @param {Hand} hand @param {number} seat */
const scored = (hand, seat) => (hand.moon === seat ? `☾ ${hand.points[seat]}` : String(hand.points[seat]));

/** @param {string} words */
function columnHead(words) {
  const cell = element("th", "", words);
  cell.setAttribute("scope", "col");
  return cell;
}

/** @param {string} words */
function rowHead(words) {
  const cell = element("th", "", words);
  cell.setAttribute("scope", "row");
  return cell;
}

/** Which way the cards of a hand were passed. @param {Hand} hand */
const wayOf = (hand) => (hand.pass_offset === undefined ? "" : passWay(hand.pass_offset));
