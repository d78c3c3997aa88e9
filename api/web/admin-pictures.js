// @ts-check
/** Small pictures of figures over time, each with its latest value in words beside it. */

import { element } from "./page-parts.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 100;

/** @param {string} name @param {Record<string, string | number>} attributes */
function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** @param {string} title @param {string} latest @param {string} most @param {Element[]} shapes */
function picture(title, latest, most, shapes) {
  const svg = shape("svg", { viewBox: `0 -4 ${WIDTH} ${HEIGHT + 8}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}: now ${latest}, at most ${most}` });
  svg.append(shape("line", { class: "ground", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }), ...shapes);
  const made = element("figure", "picture", element("figcaption", "", element("span", "", title), element("b", "", latest)), element("span", "quiet", `at most ${most}`));
  made.append(svg);
  return made;
}

/** Bars of requests, what was refused in another colour at their feet. @param {string} title @param {string} latest @param {{ requests: number, refused: number }[]} pieces @param {number} width seconds of a piece */
export function piecePicture(title, latest, pieces, width) {
  const most = Math.max(...pieces.map((one) => one.requests), 1);
  const step = WIDTH / pieces.length;
  const bars = pieces.flatMap((one, at) => {
    const all = (HEIGHT * one.requests) / most;
    const refused = (HEIGHT * one.refused) / most;
    return [
      shape("rect", { class: "bar", x: at * step + 0.4, width: step - 0.8, y: HEIGHT - all, height: all }),
      shape("rect", { class: "refused", x: at * step + 0.4, width: step - 0.8, y: HEIGHT - refused, height: refused }),
    ];
  });
  return picture(title, latest, (most / width).toFixed(1), bars);
}

/** A line through values; where there is none the line has a gap. @param {string} title @param {string} latest @param {(number | null)[]} values @param {(n: number) => string} tell */
export function linePicture(title, latest, values, tell) {
  const most = Math.max(...values.map((one) => one ?? 0), 0);
  const step = WIDTH / Math.max(1, values.length - 1);
  let path = "";
  let drawn = false;
  for (const [at, value] of values.entries()) {
    if (value !== null) path += `${drawn ? "L" : "M"}${(at * step).toFixed(1)} ${(HEIGHT - (HEIGHT * value) / (most || 1)).toFixed(1)}`;
    if (value !== null && !drawn && values[at + 1] == null) path += "h2"; // a lone value is still to be seen
    drawn = value !== null;
  }
  return picture(title, latest, tell(most), path ? [shape("path", { class: "trace", d: path })] : []);
}
