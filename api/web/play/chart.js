// @ts-check
/** Totals over the hands as lines, told apart by dashes, ends and names, not by colour alone. */

import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 330;
const HEIGHT = 190;
const LEFT = 30;
const RIGHT = 74;
const TOP = 10;
const BOTTOM = 24;
/** Where the lines are in the picture. */
export const GRID = { left: LEFT, right: RIGHT, top: TOP, bottom: BOTTOM, width: WIDTH, height: HEIGHT };
/** Hands that are numbered below the chart. */
const MOST_TICKS = 10;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "6 2 1 2", "3 6", "10 2 2 2 2 2", "5 1"];

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [words] */
export function shape(name, attributes, words) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  if (words) made.textContent = words;
  return made;
}

/** @param {number[][]} hands totals after each hand, by seat @param {string[]} names */
export function chartOf(hands, names) {
  const lines = names.map((_, seat) => [0, ...hands.map((totals) => totals[seat])]);
  const all = lines.flat();
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  const x = (/** @type {number} */ at) => LEFT + ((WIDTH - LEFT - RIGHT) * at) / hands.length;
  const y = (/** @type {number} */ n) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (n - low)) / (high - low);
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": t("Totals after each hand") });
  for (const n of new Set([low, 0, high])) {
    svg.append(shape("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: y(n), y2: y(n) }), shape("text", { x: LEFT - 4, y: y(n) + 4, "text-anchor": "end" }, String(n)));
  }
  const step = Math.ceil(hands.length / MOST_TICKS);
  for (let at = step; at <= hands.length; at += step) svg.append(shape("text", { x: x(at), y: HEIGHT - 6, "text-anchor": "middle" }, String(at)));
  svg.append(shape("text", { x: WIDTH - RIGHT + 14, y: HEIGHT - 6 }, t("Hand")));
  const ends = spread(lines.map((line, seat) => ({ seat, y: y(line[line.length - 1]) })));
  for (const [seat, line] of lines.entries()) {
    const points = line.map((n, at) => `${x(at)},${y(n)}`).join(" ");
    svg.append(shape("polyline", { class: `line l${seat % 6}`, points, "stroke-dasharray": DASHES[seat] }));
    for (const [at, n] of line.entries()) if (at) svg.append(shape("circle", { class: `dot d${seat % 6}`, cx: x(at), cy: y(n), r: 2.5 }));
    const last = line[line.length - 1];
    svg.append(shape("text", { x: x(hands.length) + 6, y: (ends.get(seat) ?? y(last)) + 4, class: `name n${seat % 6}` }, `${names[seat].slice(0, 7)} ${last}`));
  }
  return svg;
}

/** Names at the ends of the lines, moved apart where they would lie on one another. @param {{ seat: number, y: number }[]} ends */
function spread(ends) {
  const gap = Math.min(13, (HEIGHT - TOP - BOTTOM) / Math.max(1, ends.length - 1));
  const sorted = [...ends].sort((one, other) => one.y - other.y);
  let next = TOP;
  for (const [at, end] of sorted.entries()) {
    const room = HEIGHT - BOTTOM - gap * (sorted.length - 1 - at);
    end.y = Math.min(Math.max(end.y, next), room);
    next = end.y + gap;
  }
  return new Map(sorted.map(({ seat, y }) => [seat, y]));
}
