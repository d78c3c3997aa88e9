// @ts-check
/** Reads proof files and what a reader kept, strictly: whatever is not exactly of the format is `Malformed`, with its line. */

import { canCheckSignatures, fromHex, hashFromHex, isSigned, keyLinkMessage, leafHash, noteKeyHash, same, toHex, utf8 } from "./verify-formulas.js";
import { NOT_JSON, NotPlain, OF_EVENTS, readPlain } from "./verify-json.js";
import { EVENTS, KEPT_LEAF, LINES, MORE, readRules, wrongField } from "./verify-shapes.js";

/** @typedef {import("./verify-formulas.js").Bytes} Bytes */
/** @typedef {{ game: string, seq: number, head: string, signature: string }} Receipt */
/** @typedef {{ leaf: string, index: number, size: number, path: string[] }} Inclusion */
/** @typedef {{ name: string, keyHash: Bytes, value: Bytes }} NoteSignature */
/** @typedef {{ origin: string, size: number, root: Bytes, text: string, signatures: NoteSignature[] }} Checkpoint */
/** @typedef {{ game: string, kind: string, seq: number }} Leaf */
/** A checkpoint that a reader kept, and the game's leaf that it came with. @typedef {{ checkpoint: Checkpoint, leaf?: Leaf, inclusion?: Inclusion }} KeptCheckpoint */
/**
 * A proof file as it was read. @typedef {{
 *   game: string, serverKey: string, lines: Bytes[], heads: string,
 *   receipts: Receipt[], checkpoint: Checkpoint | null, inclusions: Inclusion[],
 * }} Proof
 */

const NO_SEQ = "seq is not a number from 1 to 2^53";
const MOST_INCLUSIONS = 2;
const LONGEST_NOTE = 64 * 1024;
const MOST_KEYS = 200;
const DASH = "\u2014 ";
const SPACES = [9, 10, 11, 12, 13, 32];

/** The file is not of the format. */
export class Malformed extends Error {}

/** What a reader kept is not signed by the game's server, so that nothing follows from it. */
export class WrongEvidence extends Malformed {}

/** A claim fails at an event, counted from 1. */
export class Failed extends Error {
  /** @param {number} event @param {string} why */
  constructor(event, why) {
    super(why);
    this.event = event;
  }
}

/** @param {Bytes} data @returns {Bytes[]} its lines, views without their ends */
function splitLines(data) {
  const lines = [];
  let start = 0;
  while (start < data.length) {
    const at = data.indexOf(10, start);
    const end = at < 0 ? data.length : at;
    lines.push(data.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** @param {Bytes} line @param {string} start */
export function startsWith(line, start) {
  return line.length >= start.length && [...start].every((letter, at) => line[at] === letter.charCodeAt(0));
}

const isBare = (/** @type {Bytes} */ line) => !SPACES.includes(line[0]) && !SPACES.includes(line[line.length - 1]);

/** @param {Bytes} line @param {(why: string) => Error} refuse @returns {any} */
function plain(line, refuse) {
  try {
    return readPlain(line);
  } catch (error) {
    throw error instanceof NotPlain ? refuse(error.message) : error;
  }
}

/** @param {number} number @param {Bytes} line @param {Record<string, import("./verify-shapes.js").Kind>} fields @returns {any} */
function readLine(number, line, fields) {
  if (!isBare(line)) throw new Malformed(`line ${number}: white space around the object`);
  const found = plain(line, (why) => new Malformed(`line ${number}: ${why}`));
  const wrong = wrongField(found, fields, {}, true);
  const extra = wrong !== null && !Object.hasOwn(fields, wrong) && Object.hasOwn(Object(found), wrong);
  if (wrong !== null) throw new Malformed(`line ${number}: ${wrong} ${extra ? "does not belong there" : "is missing or not as it should be"}`);
  return found;
}

/** @param {number} number @param {string} name @param {string} text */
function requireHex(number, name, text) {
  if (text === "" || fromHex(text) === null) throw new Malformed(`line ${number}: ${name} is not lower-case hex`);
}

/** Why a first line is at first sight none of a proof file; "" where it may be one. @param {Bytes} first */
function whyNoHeader(first) {
  if (first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf) return "a byte order mark stands before the header: an editor has made another file of it";
  if (first.every((byte) => SPACES.includes(byte))) return "it is empty, and the header should stand there";
  return startsWith(first, '{"n":') ? "the header is missing: the file begins with an event" : "";
}

/** The proof file in `data`. Throws `Malformed`. @param {Bytes} data @returns {Promise<Proof>} */
export async function readProof(data) {
  const lines = splitLines(data);
  if (lines.length === 0) throw new Malformed("line 1: the file is empty");
  const why = whyNoHeader(lines[0]);
  if (why) throw new Malformed(`line 1: ${why}`);
  const header = readLine(1, lines[0], LINES.header);
  if (header.format !== "hearts-audit/1") throw new Malformed(`line 1: format is ${JSON.stringify(header.format).slice(0, 60)}, not "hearts-audit/1"`);
  requireHex(1, "server_key", header.server_key);
  const after = lines.findIndex((line, at) => at > 0 && !startsWith(line, '{"n":'));
  const end = after < 0 ? lines.length : after;
  if (end === 1) throw new Malformed("line 2: there are no events");
  if (after < 0) throw new Malformed(`line ${end + 1}: the line of heads is missing`);
  const { heads } = readLine(end + 1, lines[end], LINES.heads);
  requireHex(end + 1, "heads", heads);
  const proof = { game: header.game, serverKey: header.server_key, lines: lines.slice(1, end), heads };
  const signed = readSigned(lines.slice(end + 1), end + 2);
  await checkSigners(end + 2 + signed.receipts.length, signed, proof.serverKey);
  return { ...proof, ...signed };
}

/** Refuses what nobody could judge: an inclusion without a checkpoint, a signature by another key than the header's. @param {number} number @param {Pick<Proof, "checkpoint" | "inclusions">} signed @param {string} serverKey */
async function checkSigners(number, { checkpoint, inclusions }, serverKey) {
  if (!checkpoint && inclusions.length > 0) throw new Malformed(`line ${number}: an inclusion, and no checkpoint before it that it is to lead to`);
  if (checkpoint && (await signaturesBy(checkpoint, serverKey)).length < checkpoint.signatures.length) {
    throw new Malformed(`line ${number}: the checkpoint has a signature that is not by the server key of line 1`);
  }
}

/** @param {Bytes[]} lines those behind the heads @param {number} first the number of the first of them */
function readSigned(lines, first) {
  /** @type {{ receipts: Receipt[], checkpoint: Checkpoint | null, inclusions: Inclusion[] }} */
  const found = { receipts: [], checkpoint: null, inclusions: [] };
  lines.forEach((line, at) => {
    const number = first + at;
    const inOrder = found.inclusions.length === 0 && found.checkpoint === null;
    if (startsWith(line, '{"receipt":') && inOrder && found.receipts.length === 0) {
      found.receipts.push(readReceipt(number, line));
    } else if (startsWith(line, '{"checkpoint":') && inOrder) {
      const note = readLine(number, line, LINES.checkpoint).checkpoint;
      found.checkpoint = told(`line ${number}: `, () => readCheckpoint(note));
    } else if (startsWith(line, '{"inclusion":') && found.inclusions.length < MOST_INCLUSIONS) {
      found.inclusions.push(readInclusion(number, line));
    } else {
      throw new Malformed(
        `line ${number}: nothing may follow the heads but a receipt, a checkpoint and ${MOST_INCLUSIONS} inclusions, in this order`,
      );
    }
  });
  return found;
}

/** @template T @param {string} where @param {() => T} read @returns {T} */
function told(where, read) {
  try {
    return read();
  } catch (error) {
    throw error instanceof Malformed ? new Malformed(where + error.message) : error;
  }
}

/** @param {number} number @param {Bytes} line @returns {Receipt} */
function readReceipt(number, line) {
  const { receipt } = readLine(number, line, { receipt: (one) => wrongField(one, LINES.signedHead, {}, true) === null });
  requireHex(number, "head", receipt.head);
  requireHex(number, "signature", receipt.signature);
  return receipt;
}

/** @param {number} number @param {Bytes} line @returns {Inclusion} */
function readInclusion(number, line) {
  const { inclusion } = readLine(number, line, { inclusion: (one) => wrongField(one, LINES.inclusion, {}, true) === null });
  if (![inclusion.leaf, ...inclusion.path].every(hashFromHex)) throw new Malformed(`line ${number}: a hash is not 32 bytes in lower-case hex`);
  return inclusion;
}

// --- signed notes

/** @param {string} text */
const isOrigin = (text) => /^[^\p{C}\p{Z}+]+$/u.test(text) && [...text].length <= 200;

/** @param {string} text @param {string} what @returns {Bytes} */
function fromBase64(text, what) {
  let raw = "";
  try {
    raw = atob(text);
  } catch {
    throw new Malformed(`${what} is no base64`);
  }
  if (btoa(raw) !== text) throw new Malformed(`${what} is base64 with something left over`);
  return Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
}

/** The checkpoint in a signed note. Throws `Malformed`. @param {string} note @returns {Checkpoint} */
export function readCheckpoint(note) {
  if ([...note].length > LONGEST_NOTE) throw new Malformed(`a checkpoint has at most ${LONGEST_NOTE} characters`);
  const gap = note.lastIndexOf("\n\n");
  if (gap < 0 || gap + 2 >= note.length || !note.endsWith("\n")) throw new Malformed("a checkpoint is text, an empty line and signatures, each line ended");
  const lines = note.slice(0, gap).split("\n");
  if (lines.length < 3 || lines.includes("")) throw new Malformed("the text of a checkpoint is an origin, a size and a root, each on its line");
  const [origin, size, root] = lines;
  if (!isOrigin(origin)) throw new Malformed("its first line is no origin");
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) throw new Malformed("its second line is no number of leaves");
  const raw = fromBase64(root, "the root");
  if (raw.length !== 32) throw new Malformed(`its root has ${raw.length} bytes and not 32`);
  const signatures = note.slice(gap + 2, -1).split("\n").map(readSignature);
  return { origin, size: Number(size), root: raw, text: `${note.slice(0, gap)}\n`, signatures };
}

/** @param {string} line @returns {NoteSignature} */
function readSignature(line) {
  const bare = line.startsWith(DASH) ? line.slice(DASH.length) : line;
  const space = bare.indexOf(" ");
  const name = space < 0 ? bare : bare.slice(0, space);
  const raw = fromBase64(space < 0 ? "" : bare.slice(space + 1), "a signature");
  if (!line.startsWith(DASH) || !isOrigin(name) || raw.length < 5) throw new Malformed("a signature is a dash, a name and some base64");
  return { name, keyHash: raw.slice(0, 4), value: raw.slice(4) };
}

/** The signatures of a checkpoint, right or wrong, that are under its origin by a key (hex). @param {Checkpoint} checkpoint @param {string} key */
async function signaturesBy({ origin, signatures }, key) {
  const raw = fromHex(key);
  if (raw === null) return [];
  const keyHash = await noteKeyHash(origin, raw);
  return signatures.filter((one) => one.name === origin && same(one.keyHash, keyHash));
}

/** Whether all signatures of a checkpoint under its origin by these keys (hex) are right, null where there is none by any of them. @param {Checkpoint} checkpoint @param {Iterable<string>} keys */
export async function judgeCheckpoint(checkpoint, keys) {
  const right = [];
  for (const key of keys) {
    for (const one of await signaturesBy(checkpoint, key)) right.push(await isSigned(key, utf8(checkpoint.text), one.value));
  }
  return right.length === 0 ? null : right.every(Boolean);
}

/** Whether a checkpoint is signed under its origin by a key (hex); signatures of others are let be. @param {Checkpoint} checkpoint @param {string} key */
export async function isSignedBy(checkpoint, key) {
  return (await judgeCheckpoint(checkpoint, [key])) === true;
}

// --- events

/**
 * The events that can be read, those before the first fault, and that fault; numbers, header and rule set checked.
 * @param {Proof} proof @returns {{ events: any[], broken: Failed | null }}
 */
export function readEvents(proof) {
  /** @type {any[]} */
  const events = [];
  try {
    proof.lines.forEach((line, at) => events.push(readEvent(at + 1, line)));
    const [first] = events;
    if (first.t !== "game_created") throw new Failed(1, "the first event is no game_created");
    if (first.game !== proof.game || first.server_key !== proof.serverKey) throw new Failed(1, "the header names another game or key");
    const { why } = readRules(first.rules);
    if (why) throw new Failed(1, `the rules cannot be played: ${why}`);
  } catch (error) {
    if (error instanceof Failed) return { events, broken: error };
    throw error;
  }
  return { events, broken: null };
}

/** @param {number} number @param {Bytes} line @returns {any} */
function readEvent(number, line) {
  if (!startsWith(line, `{"n":${number},"t":`) || !isBare(line)) throw new Failed(number, "it is not numbered in order");
  const event = plain(line, (why) => new Failed(number, OF_EVENTS[why] ?? why));
  if (typeof event.t !== "string") throw new Failed(number, "no event is called by anything but a text");
  if (!Object.hasOwn(EVENTS, event.t)) throw new Failed(number, `no event is called ${inAscii(event.t).slice(0, 60)}`);
  if (Object.hasOwn(event, "v") && event.v !== 1) throw new Failed(number, `${event.t} is of a version that is not known here`);
  const wrong = wrongField(event, EVENTS[event.t], { at: Number.isSafeInteger, ...MORE[event.t] });
  if (wrong !== null) throw new Failed(number, `${event.t} ${Object.hasOwn(event, wrong) ? "has not" : "lacks"} what it must have (${wrong})`);
  return { at: 0, ...event };
}

/** A text as JSON in which all but plain letters is escaped. @param {string} text */
function inAscii(text) {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// --- what a reader kept

/** @param {string} text @param {string} what @returns {any} */
function parseKept(text, what) {
  return plain(utf8(text), (why) => new Malformed(`${what} is JSON, and ${NOT_JSON.includes(why) ? "this is none" : why}`));
}

/** A receipt as a command answered it: alone, or in the whole answer. Throws `Malformed`. @param {string} text @returns {Receipt} */
export function readKeptReceipt(text) {
  const found = parseKept(text, "a receipt");
  const receipt = found?.receipt ?? found;
  const wrong = wrongField(receipt, LINES.signedHead);
  if (wrong !== null) throw new Malformed(`no receipt: ${wrong} is missing or not as it should be`);
  if (receipt.seq < 1) throw new Malformed(`no receipt: ${NO_SEQ}`);
  for (const [name, size] of /** @type {["head" | "signature", number][]} */ ([["head", 32], ["signature", 64]])) {
    if (fromHex(receipt[name])?.length !== size) throw new Malformed(`no receipt: ${name} is not ${size} bytes in lower-case hex`);
  }
  return receipt;
}

/** A checkpoint as it was answered: a note, alone or in an object, or a leaf with its path. Throws `Malformed`. @param {string} text @returns {Promise<KeptCheckpoint>} */
export async function readKeptCheckpoint(text) {
  if (!text.trimStart().startsWith("{")) return { checkpoint: readCheckpoint(text) };
  const found = parseKept(text, "a checkpoint");
  if (wrongField(found, LINES.checkpoint, {}, true) === null) return { checkpoint: readCheckpoint(found.checkpoint) };
  const wrong = wrongField(found, KEPT_LEAF);
  const head = hashFromHex(found.head);
  if (wrong !== null) throw new Malformed(`no proof of a leaf: ${wrong} is missing or not as it should be`);
  if (head === null || ![found.leaf, ...found.path].every(hashFromHex)) throw new Malformed("no proof of a leaf: a hash is not 32 bytes in lower-case hex");
  if (toHex(await leafHash(found.game, found.kind, found.seq, head)) !== found.leaf) throw new Malformed("the proof's leaf is not that of its fields");
  const { leaf, index, size, path, game, kind, seq } = found;
  return { checkpoint: readCheckpoint(found.checkpoint), leaf: { game, kind, seq }, inclusion: { leaf, index, size, path } };
}

/**
 * A server's list of keys as `/v1/log/keys` answers it, each signed by the one before it where this browser can tell. Throws `Malformed`.
 * @param {string} text @returns {Promise<string[]>}
 */
export async function readKeyList(text) {
  const entries = parseKept(text, "a list of keys")?.keys;
  const isEntry = (/** @type {any} */ one) => hashFromHex(one?.server_key) !== null && (one.signature === null || typeof one.signature === "string");
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw new Malformed("no list of keys: keys is missing or not as it should be");
  const keys = entries.map((one) => one.server_key);
  if (keys.length === 0 || keys.length > MOST_KEYS || new Set(keys).size < keys.length) throw new Malformed(`no list of 1 to ${MOST_KEYS} different keys`);
  if (entries[0].signature !== null) throw new Malformed("the first key has nobody before it who could sign it");
  const signatures = await canCheckSignatures();
  const [first, ...raw] = keys.map((key) => /** @type {Bytes} */ (hashFromHex(key)));
  for (const [at, key] of raw.entries()) {
    const signature = fromHex(entries[at + 1].signature);
    const right = signature?.length === 64 && (!signatures || (await isSigned(keys[at], await keyLinkMessage(first, at + 2, key), signature)));
    if (!right) throw new Malformed(`key ${at + 2} is not signed by the one before it`);
  }
  return keys;
}
