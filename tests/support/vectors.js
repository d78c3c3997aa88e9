/** What the page's own formulas make of the input of each line of tests/conformance/audit.ndjson and signing.ndjson. */

import * as f from "/verify-formulas.js";
import { isSignedBy, readCheckpoint, readKeyList } from "/verify-reading.js";
import { verify } from "/verify.js";

const raw = f.fromHex;
const hex = async (bytes) => f.toHex(await bytes);
const names = (cards) => cards.map((card) => f.NAMES[card]).join(" ");

async function numbers(seed, bounds) {
  const words = new f.Words(raw(seed));
  const found = [];
  for (const bound of bounds) found.push(await words.below(bound));
  return found;
}

async function link({ last, length, index }) {
  let found = raw(last);
  for (let at = length; at > index; at--) found = await f.linkBefore(found);
  return f.toHex(found);
}

async function root(leaves) {
  if (leaves.length === 0) return f.sha256(new Uint8Array());
  if (leaves.length === 1) return leaves[0];
  let at = 1;
  while (2 * at < leaves.length) at *= 2;
  return f.nodeHash(await root(leaves.slice(0, at)), await root(leaves.slice(at)));
}

async function checkpoint({ note, key }) {
  let found;
  try {
    found = readCheckpoint(note);
  } catch {
    return null;
  }
  return { origin: found.origin, size: found.size, root: f.toHex(found.root), signed: await isSignedBy(found, key) };
}

/** A browser has no way to sign with a secret that it is given as a seed: the right signature is checked, and a wrong one. */
async function signed(message, expected) {
  const { public_key: key, signature } = expected;
  const right = (await f.isSigned(key, message, raw(signature))) && !(await f.isSigned(key, raw("00".repeat(32)), raw(signature)));
  return { message: f.toHex(message), public_key: key, signature: right ? signature : "refused" };
}

async function proof({ file, at, byte }) {
  const data = new Uint8Array(await (await fetch(`/conformance/${file}`)).arrayBuffer());
  if (at !== undefined) data[at] = byte;
  const { ok, events, claims } = await verify(data);
  const event = claims.find(({ name }) => name === "I")?.event ?? null;
  return { ok, events, ...(event === null ? {} : { event }) };
}

const HELD = {
  H: ({ tag, parts }) => hex(f.H(tag, ...parts.map(raw))),
  M: ({ key, tag, parts }) => hex(f.M(raw(key), tag, ...parts.map(raw))),
  link,
  "entropy commitment": ({ opening }) => hex(f.commitEntropy(raw(opening))),
  "entropy root": ({ game, openings }) => hex(f.entropyRoot(game, openings)),
  "deal seed": ({ secret, game, hand, root }) => hex(f.dealSeed(raw(secret), game, hand, raw(root))),
  words: ({ seed }) => numbers(seed, Array(20).fill(2 ** 32)),
  below: ({ seed, bounds }) => numbers(seed, bounds),
  deck: ({ decks, removed }) => names(f.fullDeck(decks, f.parseCards(f.formatCards(removed.split(" ").filter(Boolean).map((one) => f.NAMES.indexOf(one)))))),
  deal: async ({ decks, removed, seats, hand, seed }) => {
    const deck = f.fullDeck(decks, removed.split(" ").filter(Boolean).map((one) => f.NAMES.indexOf(one)));
    const { hands, kitty } = await f.dealCards(deck, seats, hand, raw(seed));
    return { hands: hands.map(names), kitty: names(kitty) };
  },
  "hiding key": ({ secret, who, what }) => hex(f.hidingKey(raw(secret), who, what)),
  commitment: async ({ secret, who, what, text }) => hex(f.commitCards(await f.hidingKey(raw(secret), who, what), text)),
  "bot seed": ({ secret, seat, decision }) => hex(f.M(raw(secret), "hearts/v1/bot", f.utf8(String(seat)), f.utf8(String(decision)))),
  genesis: ({ game }) => hex(f.genesisHead(game)),
  head: ({ head, raw: text }) => hex(f.nextHead(raw(head), f.utf8(text))),
  receipt: async ({ game, seq, head }, expected) => signed(await f.receiptMessage(game, seq, raw(head)), expected),
  rotation: async ({ game, seq, key }, expected) => signed(await f.rotationMessage(game, seq, raw(key)), expected),
  "key link": async ({ first, number, key }, expected) => signed(await f.keyLinkMessage(raw(first), number, raw(key)), expected),
  "key list": ({ text }) => readKeyList(text).catch(() => null),
  signature: ({ public_key: key, message, signature }) => f.isSigned(key, raw(message), raw(signature)),
  leaf: ({ game, kind, seq, head }) => hex(f.leafHash(game, kind, seq, raw(head))),
  root: ({ leaves }) => hex(root(leaves.map(raw))),
  inclusion: ({ leaf, index, size, path, root }) => f.verifyInclusion(raw(leaf), index, size, path.map(raw), raw(root)),
  consistency: ({ first, second, path, first_root: one, second_root: other }) => f.verifyConsistency(first, second, path.map(raw), raw(one), raw(other)),
  note: async ({ origin, size, root, secret }, expected) => {
    const found = readCheckpoint(expected); // not signed here, for want of a seed; the line after it has its signature
    return [found.origin, found.size, f.toHex(found.root)].join() === [origin, size, root].join() ? expected : "read otherwise";
  },
  checkpoint,
  proof,
  move: async ({ game, seq, head, action, public_key: key, signature }) => {
    const message = await f.moveMessage(game, seq, raw(head), action);
    return { message: f.toHex(message), valid: await f.isSigned(key, message, raw(signature)) };
  },
};

/** Every kind of line that is held. */
export const kinds = Object.keys(HELD);

/** What the page makes of a line. */
export function made({ what, input, expected }) {
  return HELD[what](input, expected);
}
