// @ts-check
/** How a seat is taken and made ready: with a number of this browser's own, committed to at first and opened later. */

import { Refusal, at, call } from "./client.js";
import { keep } from "./kept.js";
import { newShare, shareOf } from "./share.js";

/** @typedef {import("./shapes.js").Table} Table */

/** Take a seat by a command, and keep what it committed to. @param {string} path @param {object} body @returns {Promise<Table>} the table */
export async function takeSeat(path, body) {
  const share = await newShare();
  const { body: table } = await call("POST", path, { ...body, ...share });
  keep(table.id, () => ({ seat: table.you ?? null, commit: share.entropy_commit ?? "", opened: false }));
  return table;
}

/** Take a seat at a table. @param {string} game @param {{ seat?: number, invitation?: string }} wish */
export const sitDown = (game, wish) => takeSeat(at(game, "/seats"), wish);

/**
 * Get ready, and open what the seat committed to. Where another tab was quicker, or the time is over, nothing is to be
 * done: the table goes on, and its events say with what. @param {Table} table @param {import("./ledger.js").Ledger} ledger
 */
export async function openNumber(table, ledger) {
  await ledger.catchUp(table.seq);
  const { commit = "" } = ledger.parts[table.you ?? -1] ?? {};
  const number = commit ? shareOf(commit) : "";
  if (commit && !number) return; // told at the table, with what can be done
  try {
    await call("POST", at(table.id, "/ready"), number ? { entropy: number } : {});
    if (number) keep(table.id, () => ({ opened: true }));
    await ledger.witness.settle();
  } catch (error) {
    if (!(error instanceof Refusal && error.code === "seat/taken")) throw error;
  }
}
