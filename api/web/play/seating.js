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
  return { x: 50 + (many ? 43 : 41) * x, y: 50 + 39.5 * y, cardX: 50 + (many ? 27 : 11) * x, cardY: 50 + (many ? 24 : 17) * y };
}

/** @param {number} part of 1, towards a rounded rectangle */
const flat = (part) => Math.sign(part) * Math.abs(part) ** 0.8;
