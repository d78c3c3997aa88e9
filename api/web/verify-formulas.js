// @ts-check
/**
 * The formulas of the audit protocol, written from docs/spec/audit.md alone, over Web Crypto and nothing else.
 *
 * Bytes are `Uint8Array`s; hashes, secrets and heads are 32 of them. Nothing here knows of files or claims. Held, with the
 * server's own code, to the vectors in tests/conformance/audit.ndjson.
 */

const ENCODER = new TextEncoder();

/** Bytes as Web Crypto takes them. @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** What a seat gave to the shuffle: its number, `player` or `bot`, the opened entropy in hex or "". @typedef {[number, string, string]} Opening */

/** @param {string} text @returns {Bytes} its UTF-8 */
export function utf8(text) {
  return ENCODER.encode(text);
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** @param {unknown} text @returns {Bytes | null} null where it is no lower-case hex of whole bytes */
export function fromHex(text) {
  if (typeof text !== "string" || !/^(?:[0-9a-f]{2})*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/** @param {unknown} text @returns {Bytes | null} null where it is not 32 bytes in lower-case hex */
export function hashFromHex(text) {
  const bytes = fromHex(text);
  return bytes !== null && bytes.length === 32 ? bytes : null;
}

/** @param {Uint8Array[]} parts @returns {Bytes} */
export function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export function same(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** @param {number} number @returns {Bytes} 32 bits, most significant byte first */
function u32(number) {
  return Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number);
}

/** @param {Bytes} bytes @returns {Promise<Bytes>} */
export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** H(tag, parts...). @param {string} tag @param {Uint8Array[]} parts */
export function H(tag, ...parts) {
  return sha256(join(utf8(tag), Uint8Array.of(0), ...parts.flatMap((part) => [u32(part.length), part])));
}

/** A key for `M` that is used often. @param {Bytes} key @returns {Promise<CryptoKey>} */
export function macKey(key) {
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** M(key, tag, parts...). @param {Bytes | CryptoKey} key @param {string} tag @param {Uint8Array[]} parts @returns {Promise<Bytes>} */
export async function M(key, tag, ...parts) {
  const ready = key instanceof Uint8Array ? await macKey(key) : key;
  return new Uint8Array(await crypto.subtle.sign("HMAC", ready, await H(tag, ...parts)));
}

// --- 1, 2, 3: anchor and entropy

/** s_(i-1) from s_i. @param {Bytes} link */
export function linkBefore(link) {
  return H("hearts/v1/seed-chain", link);
}

/** The commitment to c. @param {Bytes} opening */
export function commitEntropy(opening) {
  return H("hearts/v1/entropy-commit", opening);
}

/** E. @param {string} game @param {Opening[]} openings */
export function entropyRoot(game, openings) {
  return H("hearts/v1/entropy", utf8(game), ...openings.map((one) => utf8(JSON.stringify(one))));
}

// --- 4: the deal. A card is a number, suit * 13 + rank, which is the order of card lists.

export const NAMES = [..."CDSH"].flatMap((suit) => [..."23456789TJQKA"].map((rank) => rank + suit));

/** @param {number[]} cards @returns {string} the card list */
export function formatCards(cards) {
  return [...cards].sort((one, other) => one - other).map((card) => NAMES[card]).join(" ");
}

/** @param {string} text @returns {number[] | null} null where it is no card list as protocol and rule sets write it */
export function parseCards(text) {
  const cards = text === "" ? [] : text.split(" ").map((name) => NAMES.indexOf(name));
  return cards.includes(-1) || formatCards(cards) !== text ? null : cards;
}

/** seed_r. @param {Bytes} secret @param {string} game @param {number} hand @param {Bytes} root */
export function dealSeed(secret, game, hand, root) {
  return M(secret, "hearts/v1/deal", utf8(game), utf8(String(hand)), root);
}

/** The stream of 32-bit words of a seed. */
export class Words {
  /** @param {Bytes} seed */
  constructor(seed) {
    this.seed = seed;
    this.next = 0;
    this.at = 8;
    this.block = new DataView(new ArrayBuffer(32));
  }

  /** @returns {Promise<number>} the next word */
  async word() {
    if (this.at === 8) {
      const block = await sha256(join(this.seed, u32(this.next++)));
      this.block = new DataView(block.buffer);
      this.at = 0;
    }
    return this.block.getUint32(4 * this.at++);
  }

  /** A uniform number below `bound`: words that would make it uneven are skipped. @param {number} bound @returns {Promise<number>} */
  async below(bound) {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const word = await this.word();
      if (word < limit) return word % bound;
    }
  }
}

/** The cards in their starting order; each removed card drops one copy, the last. @param {number} decks @param {number[]} removed */
export function fullDeck(decks, removed) {
  const cards = Array.from({ length: decks * 52 }, (_, at) => at % 52);
  for (const card of removed) cards.splice(cards.lastIndexOf(card), 1);
  return cards;
}

/** Fisher-Yates from the top. @param {number[]} deck @param {Bytes} seed @returns {Promise<number[]>} */
export async function shuffle(deck, seed) {
  const cards = [...deck];
  const words = new Words(seed);
  for (let top = cards.length - 1; top > 0; top--) {
    const other = await words.below(top + 1);
    [cards[top], cards[other]] = [cards[other], cards[top]];
  }
  return cards;
}

/**
 * The hands in the order dealt, and the kitty; `hand` cards a seat.
 * @param {number[]} deck @param {number} seats @param {number} hand @param {Bytes} seed
 * @returns {Promise<{ hands: number[][], kitty: number[] }>}
 */
export async function dealCards(deck, seats, hand, seed) {
  const cards = await shuffle(deck, seed);
  const hands = Array.from({ length: seats }, (_, seat) => cards.filter((_, at) => at < seats * hand && at % seats === seat));
  return { hands, kitty: cards.slice(seats * hand) };
}

// --- 5, 6: hiding, the chain

/** @param {Bytes} secret s_r @param {string} who a seat's number, or `kitty` @param {string} what `hand`, `pass` or `kitty` */
export function hidingKey(secret, who, what) {
  return M(secret, "hearts/v1/hide", utf8(who), utf8(what));
}

/** The commitment to a card list. @param {Bytes | CryptoKey} key @param {string} text */
export function commitCards(key, text) {
  return M(key, "hearts/v1/hidden", utf8(text));
}

/** head_0. @param {string} game */
export function genesisHead(game) {
  return H("hearts/v1/genesis", utf8(game));
}

/** head_n from head_(n-1) and the stored bytes of event n. @param {Bytes} head @param {Uint8Array} raw */
export function nextHead(head, raw) {
  return H("hearts/v1/event", head, raw);
}

// --- 7, 8: what is signed

/** @param {string} game @param {number} seq @param {Bytes} head */
export function receiptMessage(game, seq, head) {
  return H("hearts/v1/receipt", utf8(game), utf8(String(seq)), head);
}

/** @param {string} game @param {number} seq @param {Bytes} head that of event `seq` @param {string} action */
export function moveMessage(game, seq, head, action) {
  return H("hearts/v1/move", utf8(game), utf8(String(seq)), head, utf8(action));
}

/** @param {string} game @param {number} seq of the `key_rotated` itself @param {Bytes} key the new one */
export function rotationMessage(game, seq, key) {
  return H("hearts/v1/rotate", utf8(game), utf8(String(seq)), key);
}

/**
 * What the key before it signs of a key in a server's list of keys (docs/audit.md).
 * @param {Bytes} first the key that the list begins with @param {number} place of the new key in it, from 1 @param {Bytes} key the new one
 */
export function keyLinkMessage(first, place, key) {
  return H("hearts/v1/next-key", first, utf8(String(place)), key);
}

/** @type {Promise<boolean> | undefined} */
let signatures;

/** Whether this browser can check Ed25519 at all, which older ones cannot. @returns {Promise<boolean>} */
export function canCheckSignatures() {
  // the base point of the curve: a key that whoever knows Ed25519 can import
  const probe = Uint8Array.from({ length: 32 }, (_, at) => (at ? 0x66 : 0x58));
  signatures ??= crypto.subtle.importKey("raw", probe, "Ed25519", false, ["verify"]).then(() => true, () => false);
  return signatures;
}

/** @param {string} key in hex @param {Bytes} message @param {Bytes | null} signature @returns {Promise<boolean>} */
export async function isSigned(key, message, signature) {
  const raw = hashFromHex(key);
  if (raw === null || signature === null || signature.length !== 64) return false;
  try {
    const ready = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
    return await crypto.subtle.verify("Ed25519", ready, signature, message);
  } catch {
    return false; // no point of the curve
  }
}

// --- 10: the transparency log (RFC 9162) and its signed notes

/** The hash of a game's leaf. @param {string} game @param {string} kind `lock` or `end` @param {number} seq @param {Bytes} head */
export async function leafHash(game, kind, seq, head) {
  return sha256(join(Uint8Array.of(0), await H("hearts/v1/leaf", utf8(game), utf8(kind), utf8(String(seq)), head)));
}

/** @param {Uint8Array} left @param {Uint8Array} right */
export function nodeHash(left, right) {
  return sha256(join(Uint8Array.of(1), left, right));
}

const half = (/** @type {number} */ number) => Math.floor(number / 2); // sizes have up to 53 bits, and >> takes 32

/**
 * Whether the path leads from leaf `index` to the root of the tree of `size` (RFC 9162, 2.1.3.2).
 * @param {Bytes} leaf @param {number} index @param {number} size @param {Bytes[]} path @param {Bytes} root
 */
export async function verifyInclusion(leaf, index, size, path, root) {
  if (index < 0 || index >= size) return false;
  let [at, last, found] = [index, size - 1, leaf];
  for (const one of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      found = await nodeHash(one, found);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      found = await nodeHash(found, one);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(found, root);
}

/**
 * Whether the path shows that one tree is the beginning of the other (RFC 9162, 2.1.4.2).
 * @param {number} first @param {number} second @param {Bytes[]} path @param {Bytes} firstRoot @param {Bytes} secondRoot
 */
export async function verifyConsistency(first, second, path, firstRoot, secondRoot) {
  if (first <= 0 || first > second) return false;
  if (first === second) return path.length === 0 && same(firstRoot, secondRoot);
  let odd = first;
  while (odd % 2 === 0) odd = half(odd);
  const [start, ...rest] = odd === 1 ? [firstRoot, ...path] : path; // of a complete tree the reader has the root
  if (start === undefined) return false;
  let [at, last, old, now] = [first - 1, second - 1, start, start];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  for (const one of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [old, now] = [await nodeHash(one, old), await nodeHash(one, now)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      now = await nodeHash(now, one);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(old, firstRoot) && same(now, secondRoot);
}

/** The 4 bytes that name a key in a note. @param {string} origin @param {Uint8Array} key */
export async function noteKeyHash(origin, key) {
  return (await sha256(join(utf8(`${origin}\n`), Uint8Array.of(1), key))).slice(0, 4);
}
