// @ts-check
/** The chart of totals as a map of the game: where one is, and a way to every hand. */

import { GRID, chartOf, shape } from "./chart.js";
import { element } from "./dom.js";
import { t } from "./words.js";

/**
 * @param {number[][]} hands totals after each hand by seat, as far as they are to be seen
 * @param {string[]} names
 * @param {number} now how many hands are over at the moment, with the part of the present one as a fraction
 * @param {(hand: number) => void} go
 */
export function scoreMap(hands, names, now, go) {
  if (!hands.length) return element("p", "quiet", t("No hand is scored yet."));
  const { left, right, top, bottom, width, height } = GRID;
  const svg = chartOf(hands, names);
  const step = (width - left - right) / hands.length;
  for (const at of hands.keys()) {
    const field = shape("rect", { class: "leap", x: left + at * step, y: top, width: step, height: height - top - bottom });
    field.append(shape("title", {}, t("hand {n}", { n: at + 1 })));
    field.addEventListener("click", () => go(at + 1));
    svg.append(field);
  }
  const x = left + step * Math.min(now, hands.length);
  svg.append(shape("line", { class: "here", x1: x, x2: x, y1: top - 4, y2: height - bottom + 4 }));
  return svg;
}
