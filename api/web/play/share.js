// @ts-check
/** What the player throws into the deals: a number of this browser's own, committed to with the seat and opened when ready. */

import { commitEntropy, fromHex, toHex } from "/verify-formulas.js";
import { forgetOldest, recalled, remember } from "./memory.js";

/** By its commitment, so that every tab finds it, whatever became of the answer that it was sent for. */
const SHARES = "hearts.share.";
const MOST_SHARES = 100;
const BYTES = 32;

/** Whether this browser can commit to anything: it lends its cryptography only to pages that came safely. */
export const canShare = () => globalThis.crypto?.subtle !== undefined;

/** Make a number and keep it; what a seat is taken with. @returns {Promise<{ entropy_commit?: string }>} */
export async function newShare() {
  if (!canShare()) return {};
  const number = crypto.getRandomValues(new Uint8Array(BYTES));
  const commit = toHex(await commitEntropy(number));
  forgetOldest(SHARES, MOST_SHARES - 1);
  remember(SHARES + commit, JSON.stringify({ number: toHex(number), at: Date.now() }));
  return { entropy_commit: commit };
}

/** The number in hex that a commitment was made to, "" where this browser does not have it. @param {string} commit */
export function shareOf(commit) {
  const number = recalled(SHARES + commit)?.number;
  return fromHex(number)?.length === BYTES ? /** @type {string} */ (number) : "";
}
