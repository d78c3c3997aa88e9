// @ts-check
/** A game's proof file, fetched and checked in this browser with what it has kept of the game. */

import { Refusal, at, call, credentials } from "./client.js";
import { believeKey, evidenceOf, keep, keptOf, knownKey } from "./kept.js";
import { shareOf } from "./share.js";
import { t } from "./words.js";

/** @typedef {import("../verify.js").Report} Report */
/** What `verify` finds, its claims in its own words, and the same of the player's own number. @typedef {{ report: Report, lines: string[], own: Own | null }} Checked */
/** Whether what this browser committed to is in the deals. @typedef {{ status: "holds" | "fails" | "not shown", words: string }} Own */

/** Where the proof file of a game is. @param {string} game */
export const proofOf = (game) => at(game, "/proof");

/**
 * Fetch a game's proof file and check it. Throws `Refusal`, and what `fetch` throws.
 * @param {import("./ledger.js").Ledger} ledger @param {(done: number, all: number) => void} progress @returns {Promise<Checked>}
 */
export async function checkGame(ledger, progress) {
  const known = knownKey(); // what is first seen now shows nothing
  await ledger.catchUp();
  const { game } = ledger;
  const answer = await fetch(proofOf(game), { headers: credentials(), cache: "no-store" });
  if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => ({})));
  const file = await answer.arrayBuffer();
  const text = new TextDecoder().decode(file);
  const kept = keptOf(game);
  const { report, lines } = await runChecker(file, {
    serverKey: known,
    serverKeys: !known || known === ledger.serverKey ? "" : await keyList(),
    receipts: evidenceOf(kept).map((one) => JSON.stringify(one)),
    checkpoints: kept.checkpoint ? [kept.checkpoint] : [],
  }, progress);
  if (report.ok) await keepCheckpoint(game, text);
  return { report, lines, own: report.problem ? null : ownPart(text, kept, report.ok) };
}

/** @param {ArrayBuffer} file @param {object} evidence @param {(done: number, all: number) => void} progress @returns {Promise<{ report: Report, lines: string[] }>} */
function runChecker(file, evidence, progress) {
  const worker = new Worker("/play/checker.js", { type: "module" });
  return new Promise((done, fail) => {
    worker.addEventListener("message", ({ data }) => (data.report ? done(data) : progress(data.done, data.all)));
    worker.addEventListener("error", () => fail(new Error(t("The verifier could not be loaded."))));
    worker.postMessage([file, evidence], [file]);
  }).finally(() => worker.terminate());
}

/** The server's list of keys as it is answered, which says whether one that was first seen here vouches for another. */
async function keyList() {
  const { body } = await call("GET", "/v1/log/keys");
  return JSON.stringify(body);
}

/** Keep where the game stands in the server's public log: it is evidence from the next check on. @param {string} game @param {string} text */
async function keepCheckpoint(game, text) {
  const kind = eventOf(text, "game_ended") ? "end" : "lock";
  if (!eventOf(text, "game_locked") || keptOf(game).checkpoint.includes(`"kind":"${kind}"`)) return;
  try {
    const { body } = await call("GET", `/v1/log/proof?game=${encodeURIComponent(game)}&kind=${kind}`);
    keep(game, () => ({ checkpoint: JSON.stringify(body) }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error; // the log has not got it yet, and the next check asks again
  }
}

/** The first event of a kind in a proof file that has been checked. @param {string} text @param {string} kind @returns {any} */
function eventOf(text, kind) {
  const line = text.split("\n").find((one) => /^\{"n":\d+,"t":"(\w+)"/.exec(one)?.[1] === kind);
  return line === undefined ? null : JSON.parse(line);
}

/** Whether the file has the number in the deals that this browser committed to. @param {string} text @param {import("./kept.js").Kept} kept @param {boolean} ok whether the file holds @returns {Own | null} null where it committed to none */
function ownPart(text, { seat, commit, opened }, ok) {
  if (seat === null || !commit) return null;
  const taken = text.split("\n").filter((one) => /^\{"n":\d+,"t":"seat_taken"/.test(one)).map((one) => JSON.parse(one)).findLast((one) => one.seat === seat);
  if (taken?.entropy_commit !== commit) return { status: "fails", words: t("The server has written another seal for your seat than the one that this browser sent.") };
  const locked = eventOf(text, "game_locked");
  if (!locked) return { status: "not shown", words: t("Your number is sealed, and opened when you are ready.") };
  const used = locked.entropy.find((/** @type {[number, string, string]} */ one) => one[0] === seat)?.[2] ?? "";
  const mine = shareOf(commit);
  if (!ok) return { status: "not shown", words: t("The file fails, so what it says of your number counts for nothing.") };
  if (used && (!mine || used === mine)) return { status: "holds", words: t("The number that this browser made for you is in every deal of this game.") };
  if (used || opened) return { status: "fails", words: t("The deals were made without the number that this browser opened for you.") };
  return { status: "not shown", words: t("The cards are dealt without your number: it was not opened in time.") };
}

/** Take the key of this game for the server's from now on. @param {import("./ledger.js").Ledger} ledger */
export const believeKeyOf = (ledger) => believeKey(ledger.serverKey);
