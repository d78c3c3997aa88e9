// @ts-check
/** Where seats and their cards are on an oval table, in parts of its width and height. */

/** @typedef {{ x: number, y: number, cardX: number, cardY: number }} Place in percent */

/**
 * The place of the seat so many places to the left of the reader's, who sits at the bottom. Seats follow one another
 * clockwise; on a large table the sides of the oval are flattened, so that plates there do not touch.
 * @param {number} left @param {number} seats @returns {Place}
 */
export function placeOf(left, seats) {
  const angle = Math.PI / 2 + (2 * Math.PI * left) / seats;
  const x = flat(Math.cos(angle));
  const y = flat(Math.sin(angle));
  const many = seats > 6;
  const card = many ? { x: 26 * x, y: 30 * Math.sign(y) * Math.min(Math.abs(y), HIGHEST) } : { x: 11 * x, y: 18 * y };
  return { x: 50 + (many ? 43 : 41) * x, y: 50 + 39.5 * y, cardX: 50 + card.x, cardY: 50 + card.y };
}

/** How far up and down a card of a large table may lie, in parts of the way to the seats: those at both ends keep off the plates. */
const HIGHEST = 0.66;

/** @param {number} part of 1, towards a rounded rectangle */
const flat = (part) => Math.sign(part) * Math.abs(part) ** 0.8;
