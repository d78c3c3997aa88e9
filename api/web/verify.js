// @ts-check
/**
 * Checks a proof file (docs/spec/audit.md) in a browser: that the deals were fixed before play and not chosen by the
 * server (F), and that no event was altered, dropped or reordered (I). Its own code, over Web Crypto; nothing is sent anywhere.
 *
 *     import { verify } from "/verify.js";
 *     const report = await verify(bytes, { serverKey, receipts: [text], checkpoints: [text] });
 *
 * Claims are told in the words of `hearts verify`, which also checks the rules and the score.
 */

import { FairnessCheck } from "./verify-deals.js";
import { NOT_HERE, NO_LEVEL, integrityLevel } from "./verify-levels.js";
import {
  canCheckSignatures, genesisHead, hashFromHex, isSigned, leafHash, nextHead, receiptMessage, rotationMessage, fromHex, toHex, verifyInclusion,
} from "./verify-formulas.js";
import { Failed, Malformed, WrongEvidence, isSignedBy, judgeCheckpoint, readEvents, readKeptCheckpoint, readKeptReceipt, readKeyList, readProof, startsWith } from "./verify-reading.js";

/** @typedef {import("./verify-formulas.js").Bytes} Bytes */
/** @typedef {import("./verify-reading.js").Receipt} Receipt */
/** @typedef {import("./verify-reading.js").Checkpoint} Checkpoint */
/** @typedef {import("./verify-reading.js").Inclusion} Inclusion */
/** @typedef {import("./verify-reading.js").KeptCheckpoint} KeptCheckpoint */
/** @typedef {import("./verify-reading.js").Proof} Proof */
/** @typedef {import("./verify-reading.js").Leaf} Leaf */
/** @typedef {"holds" | "fails" | "not shown"} Status */
/** @typedef {import("./verify-levels.js").Level} Level */
/** How far a claim is shown; `event` is the first one at fault. @typedef {Level & { name: "F" | "I" | "R" | "B", title: string, status: Status, detail: string, event: number | null }} Claim */
/**
 * What a file shows. `problem` says why it could not be checked at all, "" where it was. `ok`: it was, and no claim fails.
 * `faulty` is the first event at fault as it stands in the file, `keptTo` the last event that what the reader kept shows,
 * `keyPinned` whether the reader has the server's key, `signatures` whether this browser can check any, `unshown` why
 * nothing can be shown of how the game came about, "" where it can.
 * @typedef {{
 *   ok: boolean, problem: string, game: string, events: number, head: string, claims: Claim[], faulty: string,
 *   keptTo: number, keyPinned: boolean, signatures: boolean, unshown: string,
 * }} Report
 */
/**
 * What a reader has beside the file: the server's first key in hex; its list of keys, receipts and checkpoints as they
 * were answered, as texts; `progress` is told of events that are done, of all.
 * @typedef {{ serverKey?: string, serverKeys?: string, receipts?: string[], checkpoints?: string[], progress?: (done: number, all: number) => void }} Evidence
 */

const HEAD_DIGITS = 16;
const PAUSE_EVENTS = 512;
const TITLES = { F: "fair deals", I: "nothing altered", R: "rules and score", B: "honest bots" };
const OTHER_KEY =
  "the file names another server key than you have: another server, or the key was changed in between; " +
  "the server's list of keys would show which (--server-keys)";
const OLDER_KEY = "the file names a server key from before yours, for which yours does not vouch: take that one";
const FOREIGN_KEY = "the file names a server key that does not follow from yours in your list of keys";
const OTHER_SIGNER =
  "your checkpoint is signed by another key than the game's: another server's, or the key was changed in between; " +
  "your key and the server's list of keys would show which (--server-key, --server-keys)";
const UNSIGNED = "is not signed by this game's server: it was changed, or is another server's";
const NO_SIGNATURES = "this browser cannot check signatures";

/**
 * What a proof file shows. Never throws: what is wrong with the file, or with what the reader kept, stands in the report.
 * @param {Uint8Array | ArrayBuffer | string} data @param {Evidence} [evidence] @returns {Promise<Report>}
 */
export async function verify(data, evidence = {}) {
  /** @type {Report} */
  const nothing = {
    ok: false, problem: "", game: "", events: 0, head: "", claims: [], faulty: "", keptTo: 0, keyPinned: false, signatures: false, unshown: "",
  };
  if (globalThis.crypto?.subtle === undefined) {
    return { ...nothing, problem: "browsers lend their cryptography only to pages that came by https, or from your own machine: check the file with hearts verify" };
  }
  try {
    return await judge(await readProof(bytesOf(data)), evidence);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    return { ...nothing, problem: error instanceof Malformed ? message : `the file cannot be checked: ${message}` };
  }
}

/** A claim in one line for people; what a server's JSON leaves out is as if it were null or empty. @param {Claim} claim */
export function lineOf({ name, title, status, detail, event, level, top, next }) {
  if (status === "fails") return `${name} (${title}) FAILS${event == null ? "" : ` at event ${event}`}: ${detail}`;
  const byServer = name === "I" && status === "holds" && level === 1;
  const told = `${name} (${title}) ${byServer ? "holds only by the word of this file's own server" : status}: ${detail}`;
  return level == null ? told : `${told}. Level ${level} of ${top}${next ? `; ${next}` : ""}`;
}

/** @param {Uint8Array | ArrayBuffer | string} data @returns {Bytes} */
function bytesOf(data) {
  return typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
}

/** @param {Proof} proof @param {Evidence} evidence @returns {Promise<Report>} */
async function judge(proof, evidence) {
  const kept = {
    receipts: await Promise.all((evidence.receipts ?? []).map((text) => readKept("receipt", readKeptReceipt, text))),
    checkpoints: await Promise.all((evidence.checkpoints ?? []).map((text) => readKept("checkpoint", readKeptCheckpoint, text))),
    keys: evidence.serverKeys ? await readKept("list of keys", readKeyList, evidence.serverKeys) : null,
  };
  const pinned = (evidence.serverKey ?? "").toLowerCase();
  if (pinned && hashFromHex(pinned) === null) throw new Malformed("your server key is no public key: that is 64 digits of hex");
  const { events, broken } = readEvents(proof);
  // where the header names another game than the first event, it is the file that is wrong
  if (events.length && events[0].t === "game_created" && events[0].game === proof.game) checkEvidence(kept, proof.game);
  const chain = await followChain(proof, evidence.progress ?? (() => {}));
  const check = new IntegrityCheck(proof, chain, await canCheckSignatures());
  const integrity = await claim("I", () => check.run(events, kept, pinned, broken !== null), (holds) => check.level(holds, pinned));
  const why = broken === null ? unshown(events[0]) : "";
  const deals = broken === null ? new FairnessCheck(events) : null;
  const fairness = deals ? await claim("F", () => deals.run(why), () => deals.level()) : unchecked("F", "the events cannot be read");
  const rules = broken === null ? { ...unchecked("R", "this page checks no rules and no score; hearts verify does"), ...NOT_HERE } : failed("R", broken);
  const bots = unchecked("B", why || "this page does not play the bots' decisions again");
  const claims = [fairness, why ? since(integrity, why) : integrity, rules, why ? bots : { ...bots, ...NOT_HERE }];
  const first = claims.find((one) => one.status === "fails" && one.event !== null);
  return {
    ok: claims.every((one) => one.status !== "fails"),
    problem: "",
    game: proof.game,
    events: proof.lines.length,
    head: toHex(chain.head),
    claims,
    keptTo: check.keptTo,
    keyPinned: pinned !== "",
    signatures: check.signatures,
    unshown: why,
    faulty: first === undefined ? "" : new TextDecoder().decode(proof.lines[/** @type {number} */ (first.event) - 1]),
  };
}

/** @template T @param {string} what @param {(text: string) => T | Promise<T>} read @param {string} text @returns {Promise<T>} */
async function readKept(what, read, text) {
  try {
    return await read(text);
  } catch (error) {
    throw error instanceof Malformed ? new Malformed(`the ${what} cannot be read: ${error.message}`) : error;
  }
}

/** Refuses what is of another game than the file: a mix-up, of which nothing follows for the game. @param {{ receipts: Receipt[] }} kept @param {string} game */
function checkEvidence({ receipts }, game) {
  for (const other of receipts.map((one) => one.game)) {
    if (other !== game) throw new Malformed(`your receipt is of game ${other.slice(0, 64)}, and the file of game ${game.slice(0, 64)}: you have mixed up two games`);
  }
}

/** @param {Claim["name"]} name @param {() => Promise<[Status, string]>} run @param {(holds: boolean) => Level} level @returns {Promise<Claim>} */
async function claim(name, run, level) {
  try {
    const [status, detail] = await run();
    return { name, title: TITLES[name], status, detail, event: null, ...level(status === "holds") };
  } catch (error) {
    if (error instanceof Failed) return failed(name, error);
    throw error;
  }
}

/** @param {Claim["name"]} name @param {Failed} error @returns {Claim} */
function failed(name, error) {
  return { name, title: TITLES[name], status: "fails", detail: error.message, event: error.event, ...NO_LEVEL };
}

/** @param {Claim["name"]} name @param {string} detail @returns {Claim} */
function unchecked(name, detail) {
  return { name, title: TITLES[name], status: "not shown", detail, event: null, ...NO_LEVEL };
}

/** Why claims about how a game came about cannot be shown, "" where they can. @param {any} first */
function unshown(first) {
  if (first.branch !== undefined) return `practice table branched from game ${first.branch.game.slice(0, 64)} at ${first.branch.at}`;
  return first.imported === true ? "imported" : "";
}

/** Claim I of a game that was imported or branched off. @param {Claim} integrity @param {string} why @returns {Claim} */
function since(integrity, why) {
  if (integrity.status === "fails") return integrity;
  const told = integrity.status === "holds" ? `it holds ${integrity.detail}` : integrity.detail;
  return { ...integrity, ...NO_LEVEL, status: "not shown", detail: `${why}; since then ${told}` };
}

// --- claim I

/**
 * The chain of a file: the head of each event by its number, the leaves that its events add by their hash in hex, and
 * the first event whose head is not the one in the line of heads, 0 where there is none.
 * @typedef {{ head: Bytes, heads: Bytes[], leaves: Map<string, Leaf>, wrong: number }} Chain
 */

/** @param {Proof} proof @param {(done: number, all: number) => void} progress @returns {Promise<Chain>} */
async function followChain({ game, lines, heads }, progress) {
  /** @type {Chain} */
  const chain = { head: await genesisHead(game), heads: [], leaves: new Map(), wrong: 0 };
  chain.heads.push(chain.head);
  for (let seq = 1; seq <= lines.length; seq++) {
    const line = lines[seq - 1];
    chain.head = await nextHead(chain.head, line);
    chain.heads.push(chain.head);
    const told = heads.slice((seq - 1) * HEAD_DIGITS, seq * HEAD_DIGITS);
    if (!chain.wrong && told !== toHex(chain.head.subarray(0, HEAD_DIGITS / 2))) chain.wrong = seq;
    const kind = ["lock", "end"].find((_, at) => startsWith(line, `{"n":${seq},"t":"${["game_locked", "game_ended"][at]}"`));
    if (kind !== undefined) chain.leaves.set(toHex(await leafHash(game, kind, seq, chain.head)), { game, kind, seq });
    if (seq % PAUSE_EVENTS === 0) {
      progress(seq, lines.length);
      await new Promise((go) => setTimeout(go)); // else a long file would freeze the page
    }
  }
  if (!chain.wrong && heads.length !== lines.length * HEAD_DIGITS) chain.wrong = lines.length;
  progress(lines.length, lines.length);
  return chain;
}

/** The keys that a game names: the first one, and each that the one before it vouches for. @typedef {{ since: number, key: string }[]} Keys */

/** Holds a file's events to what its server has signed. */
class IntegrityCheck {
  /** @param {Proof} proof @param {Chain} chain @param {boolean} signatures whether they can be checked */
  constructor(proof, chain, signatures) {
    this.proof = proof;
    this.chain = chain;
    this.signatures = signatures;
    this.count = proof.lines.length;
    /** @type {Keys} */
    this.keys = [{ since: 0, key: proof.serverKey }];
    this.shown = 0; // the last event that a receipt shows
    this.keptTo = 0; // the last event that anything shows which the reader kept
    /** @type {Leaf | null} the last leaf that a checkpoint shows */
    this.leaf = null;
    this.size = 0;
    this.trusted = [proof.serverKey]; // keys by which a checkpoint may be signed that the reader kept
    /** @type {string[]} */
    this.hints = [];
    this.unjudged = ""; // why a checkpoint that the reader kept says nothing of the file
  }

  /**
   * How far the claim holds. Throws `Failed`, and `WrongEvidence` where the game's server has not signed what the reader kept.
   * @param {any[]} events those that can be read
   * @param {{ receipts: Receipt[], checkpoints: KeptCheckpoint[], keys: string[] | null }} kept @param {string} pinned
   * @param {boolean} broken whether there are events that cannot be read
   * @returns {Promise<[Status, string]>}
   */
  async run(events, kept, pinned, broken) {
    try {
      return await this.judge(events, kept, pinned);
    } catch (error) {
      if (!broken || !(error instanceof WrongEvidence)) throw error;
      return ["not shown", error.message]; // by a key, it may be, that the events name which cannot be read
    }
  }

  /**
   * The same of a file that may be broken. @param {any[]} events
   * @param {{ receipts: Receipt[], checkpoints: KeptCheckpoint[], keys: string[] | null }} kept @param {string} pinned
   * @returns {Promise<[Status, string]>}
   */
  async judge(events, kept, pinned) {
    const { proof, chain } = this;
    // a rotation that is forged is told before a head that follows from it
    await this.rotations(chain.wrong ? events.slice(0, chain.wrong - 1) : events);
    if (chain.wrong) throw new Failed(chain.wrong, "its head is not the one in the file");
    if (pinned) this.key(pinned, kept.keys);
    for (const one of proof.receipts) await this.receipt(one, "the receipt");
    for (const one of kept.receipts) {
      if (await this.signer(one)) this.keep(await this.receipt(one, "your receipt"));
    }
    if (proof.checkpoint) {
      if (this.signatures && !(await isSignedBy(proof.checkpoint, proof.serverKey))) throw new Failed(this.count, "the signature of the checkpoint is not the server's");
      for (const path of proof.inclusions) await this.inclusion(path, proof.checkpoint, undefined, "the checkpoint");
    }
    for (const one of kept.checkpoints) await this.kept(one);
    return this.result(pinned);
  }

  /** @param {number} seq */
  keep(seq) {
    if (this.signatures) this.keptTo = Math.max(this.keptTo, seq);
  }

  /** Holds the key that the game names first to the reader's, or to what follows from that. @param {string} pinned @param {string[] | null} keys */
  key(pinned, keys) {
    const first = this.proof.serverKey;
    const since = (/** @type {string} */ key) => (keys?.includes(key) ? keys.slice(keys.indexOf(key)) : []);
    this.trusted = [...new Set([first, ...since(pinned)])];
    if (pinned === first) return;
    if (keys === null) throw new Failed(1, OTHER_KEY);
    if (!since(pinned).includes(first)) throw new Failed(1, since(first).includes(pinned) ? OLDER_KEY : FOREIGN_KEY);
    this.hints.push("; its server key follows from yours by your list of keys");
  }

  /** @param {any[]} events */
  async rotations(events) {
    for (const [at, { t, server_key: next, signature }] of events.entries()) {
      if (t !== "key_rotated") continue;
      const number = at + 1;
      const raw = hashFromHex(next);
      const message = raw && (await rotationMessage(this.proof.game, number, raw));
      const old = this.keys[this.keys.length - 1].key;
      const right = message && (!this.signatures || (await isSigned(old, message, fromHex(signature))));
      if (!right) throw new Failed(number, "the new server key is not signed by the one before it");
      this.keys.push({ since: number, key: next });
    }
  }

  /**
   * A receipt that a reader brings can accuse the server only if one of its keys has signed it, whatever it says; whether
   * it is to be judged, which it is not where signatures cannot be checked and it does not fit. Throws `Malformed`.
   * @param {Receipt} receipt
   */
  async signer({ game, seq, head, signature }) {
    if (!this.signatures) {
      const fits = seq <= this.count && toHex(this.chain.heads[seq]) === head;
      if (!fits) this.hints.push("; your receipt is of other events, if the server has signed it");
      return fits;
    }
    const message = await receiptMessage(game, seq, /** @type {Bytes} */ (hashFromHex(head)));
    for (const key of new Set([...this.keys.map((one) => one.key), ...this.trusted])) {
      if (await isSigned(key, message, fromHex(signature))) return true;
    }
    throw new WrongEvidence(`your receipt ${UNSIGNED}`);
  }

  /** @param {Receipt} receipt @param {string} which */
  async receipt(receipt, which) {
    const { game, seq } = receipt;
    if (game !== this.proof.game) throw new Failed(1, `${which} is of game ${game.slice(0, 64)}, not of this one`);
    if (seq > this.count) throw new Failed(this.count + 1, `${which} is of event ${seq}, and the file ends with event ${this.count}: it was cut off`);
    const head = seq > 0 ? this.chain.heads[seq] : undefined;
    if (head === undefined || toHex(head) !== receipt.head) throw new Failed(seq, `${which} was given for other events`);
    const key = this.keys.findLast(({ since }) => since < seq)?.key ?? "";
    if (this.signatures && !(await isSigned(key, await receiptMessage(game, seq, head), fromHex(receipt.signature)))) {
      throw new Failed(seq, `the signature of ${which} is not the server's`);
    }
    this.shown = Math.max(this.shown, seq);
    return seq;
  }

  /** @param {Inclusion} one @param {Checkpoint} checkpoint @param {Leaf | undefined} named @param {string} which */
  async inclusion(one, { size, root }, named, which) {
    // a path that leads nowhere is a fault of the file, or of what the reader brings
    const fault = (/** @type {string} */ why) => (named === undefined ? new Failed(this.count, why) : new WrongEvidence(why));
    if (one.size !== size) throw fault(`the inclusion is of a log of ${one.size}, and ${which} of one of ${size}`);
    const [leaf, ...path] = [one.leaf, ...one.path].map((hash) => /** @type {Bytes} */ (hashFromHex(hash)));
    if (!(await verifyInclusion(leaf, one.index, size, path, root))) throw fault(`the inclusion does not lead to ${which}`);
    const found = this.chain.leaves.get(one.leaf);
    if (found === undefined) throw this.foreignLeaf(named, which);
    if (this.leaf === null || this.leaf.seq <= found.seq) [this.leaf, this.size] = [found, size];
    return found.seq;
  }

  /** A leaf of none of the file's events: told as closely as its fields allow. @param {Leaf | undefined} named @param {string} which */
  foreignLeaf(named, which) {
    if (named === undefined) return new Failed(this.count, `${which} has a leaf that is of none of the file's events: they were changed or cut off`);
    const { kind, seq } = named;
    if (seq <= this.count) return new Failed(seq, `${which} has other events up to the ${kind} of the game`);
    return new Failed(this.count + 1, `${which} has the ${kind} of the game at event ${seq}, and the file ends with event ${this.count}: it was cut off`);
  }

  /** @param {KeptCheckpoint} kept */
  async kept({ checkpoint, leaf, inclusion }) {
    const which = "your checkpoint";
    const signed = this.signatures ? await judgeCheckpoint(checkpoint, this.trusted) : true;
    if (signed === null) {
      this.unjudged = OTHER_SIGNER;
      return;
    }
    if (!signed) throw new WrongEvidence(`${which} ${UNSIGNED}`);
    const { origin, size, root } = checkpoint;
    const theirs = this.proof.checkpoint;
    const same = theirs !== null && theirs.origin === origin && theirs.size === size;
    if (same && toHex(theirs.root) !== toHex(root)) throw new Failed(this.count, `${which} and that of the file are of logs of ${size} that differ: the log was forked`);
    // the leaf of another game that a checkpoint came with says nothing of this one: the checkpoint is of the whole log
    const mine = leaf?.game === this.proof.game;
    const paths = mine && inclusion ? [inclusion] : same ? this.proof.inclusions : [];
    for (const path of paths) this.keep(await this.inclusion(path, checkpoint, mine ? leaf : undefined, which));
    if (paths.length > 0) return;
    if (theirs !== null && theirs.origin !== origin) this.unjudged = `${which} is of the log ${origin}, and the file's of ${theirs.origin}`;
    else this.hints.push(`; the file has no inclusion for your checkpoint, of a log of ${size}, which may be from before the game and then shows nothing of it; if it is later, get the file with /v1/games/${this.proof.game}/proof?size=${size}`);
  }

  /** How far what was shown is. @param {boolean} holds @param {string} pinned */
  level(holds, pinned) {
    return integrityLevel({ holds, keptTo: this.keptTo, pinned: pinned !== "", signatures: this.signatures, events: this.count });
  }

  /** @param {string} pinned @returns {[Status, string]} */
  result(pinned) {
    const by = [];
    if (this.shown) by.push(`by a receipt of event ${this.shown}`);
    if (this.leaf) by.push(`by a log of ${this.size} that has the game's ${this.leaf.kind}, event ${this.leaf.seq}`);
    const hint = this.hints.join("");
    if (!this.signatures) return ["not shown", NO_SIGNATURES + (by.length ? `; unsigned it would hold ${by.join(" and ")}` : "") + hint];
    if (by.length === 0) return ["not shown", (this.unjudged || "a receipt or a checkpoint would show it") + hint];
    const upto = Math.max(this.shown, this.leaf?.seq ?? 0);
    const told = `up to event ${upto} of ${this.count}, ${by.join(" and ")}${hint}`;
    if (this.unjudged) return ["not shown", `${this.unjudged}; without it the claim would hold ${told}`];
    return ["holds", told + (pinned ? "" : "; key not pinned")];
  }
}
