// @ts-check
/** How a card looks: the one place that knows the sprite. */

const SVG = "http://www.w3.org/2000/svg";

/** Cards held like a hand, for the eye alone. @param {string[]} cards */
export function fan(cards) {
  const box = document.createElement("div");
  box.className = "fan";
  for (const [at, card] of cards.entries()) {
    const face = cardFace(card);
    face.style.setProperty("--lean", String(at - (cards.length - 1) / 2));
    box.append(face);
  }
  return box;
}

/** The face of a card, or `back`. Its name is told by what it lies in. @param {string} card */
export function cardFace(card) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 250 350");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "face");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `/cards.svg#${card}`);
  svg.append(use);
  return svg;
}
