// @ts-check
/**
 * Holds the server to its word while it is played: each event follows from those before it, each receipt is of the events
 * that are told and signed by the server's key, and the deals are fixed with what this browser has opened.
 */

import { canCheckSignatures, fromHex, genesisHead, hashFromHex, isSigned, nextHead, receiptMessage, rotationMessage, toHex, utf8 } from "/verify-formulas.js";
import { believeKey, keep, keptOf, knownKey } from "./kept.js";
import { canShare, shareOf } from "./share.js";
import { t } from "./words.js";

/** @typedef {import("./kept.js").Receipt} Receipt */
/** @typedef {import("./shapes.js").Item} Item */

export class Witness {
  /** @param {string} game @param {(warning: string) => void} warn */
  constructor(game, warn) {
    this.game = game;
    this.onWarning = warn;
    /** What was wrong so far, in sentences. @type {string[]} */
    this.warnings = [];
    /** The server's keys, each with the event after which it signs. @type {{ since: number, key: string }[]} */
    this.keys = [];
    /** By event. @type {string[]} */
    this.heads = [];
    /** What the player's seat was taken with, as it is told. */
    this.taken = "";
    /** @type {Promise<void>} */
    this.work = Promise.resolve();
  }

  /** Take the next event; it is judged when those before it are. @param {Item} item @param {any} event */
  see(item, event) {
    this.work = this.work.then(() => this.judge(item, event));
  }

  /** Judge the receipts whose events have been told. @returns {Promise<void>} */
  settle() {
    this.work = this.work.then(() => this.receipts());
    return this.work;
  }

  /** @param {string} text */
  warn(text) {
    if (this.warnings.includes(text)) return;
    this.warnings.push(text);
    this.onWarning(text);
  }

  /** @param {Item} item @param {any} event */
  async judge(item, event) {
    await this.chain(item);
    const { seat } = keptOf(this.game);
    switch (event.t) {
      case "game_created":
        this.keys = [{ since: 0, key: event.server_key }];
        if (!knownKey()) believeKey(event.server_key);
        break;
      case "key_rotated":
        await this.turn(event);
        break;
      case "seat_taken":
        if (event.seat === seat) this.taken = event.entropy_commit ?? "";
        break;
      case "game_locked":
        this.lock(event.entropy);
    }
    await this.receipts();
  }

  /** @param {Item} item */
  async chain(item) {
    this.heads[item.seq] = item.head;
    if (!canShare()) return; // nothing to reckon with
    this.head = await nextHead(this.head ?? (await genesisHead(this.game)), utf8(item.event));
    if (toHex(this.head) !== item.head) this.warn(t("Event {n} does not follow from what the server told before: it tells another history now.", { n: item.seq }));
  }

  /** The server names its next key, for which the one before must vouch. @param {{ n: number, server_key: string, signature: string }} event */
  async turn({ n, server_key: key, signature }) {
    const raw = hashFromHex(key);
    const old = this.keys[this.keys.length - 1].key;
    const canCheck = canShare() && (await canCheckSignatures());
    const right = raw && (!canCheck || (await isSigned(old, await rotationMessage(this.game, n, raw), fromHex(signature))));
    if (right) this.keys.push({ since: n, key });
    else this.warn(t("The server has turned to another key, and its old one does not vouch for it."));
  }

  /** The deals are fixed: the player's seat must be in them as it took part. @param {[number, string, string][]} entropy */
  lock(entropy) {
    const { seat, commit, opened } = keptOf(this.game);
    if (seat === null || !commit) return;
    const used = entropy.find(([one]) => one === seat)?.[2] ?? "";
    if (this.taken !== commit) this.warn(t("The server has written another seal for your seat than the one that this browser sent."));
    else if (used && used !== shareOf(commit)) this.warn(t("The deals are fixed with another number for your seat than yours."));
    else if (!used && opened) this.warn(t("The deals are fixed without your number, though the server had taken it. Do not play on: your receipt proves it."));
    else if (!used) this.warn(t("The cards are dealt without your number: it was not opened in time."));
  }

  async receipts() {
    for (const one of keptOf(this.game).pending) {
      if (one.seq < this.heads.length) await this.receipt(one);
    }
  }

  /** @param {Receipt} receipt */
  async receipt(receipt) {
    const { seq } = receipt;
    const signed = await this.isSigned(receipt);
    const fits = this.heads[seq] === receipt.head;
    keep(this.game, (kept) => {
      const pending = kept.pending.filter((one) => one.signature !== receipt.signature);
      if (!signed) return { pending };
      if (!fits) return { pending, forked: kept.forked ?? receipt };
      return { pending, receipt: kept.receipt && kept.receipt.seq > seq ? kept.receipt : receipt };
    });
    if (!signed) this.warn(t("A receipt of the server is not signed by the key that the game names: it shows nothing."));
    else if (!fits) this.warn(t("The server signed another history up to event {n} than the one that it tells now. The receipt that proves it is kept.", { n: seq }));
  }

  /** @param {Receipt} receipt */
  async isSigned({ game, seq, head, signature }) {
    const raw = hashFromHex(head);
    if (game !== this.game || !raw) return false;
    if (!canShare() || !(await canCheckSignatures())) return true; // the verifier says that it cannot tell
    const key = this.keys.findLast(({ since }) => since < seq)?.key ?? "";
    return isSigned(key, await receiptMessage(game, seq, raw), fromHex(signature));
  }
}
