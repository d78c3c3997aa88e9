// @ts-check
/** Calls of the server, and whose they are: the player's token is kept in this browser. */

import { hearReceipt } from "./kept.js";
import { remember, remembered } from "./memory.js";
import { t } from "./words.js";

const KEPT = "hearts.player";
/** Milliseconds before a call that got no answer is made again, each time longer. */
const PAUSES = [300, 600, 1200, 2400, 4800, 8000];

/** A refusal in the server's words. */
export class Refusal extends Error {
  /** @param {number} status @param {{ code?: string, detail?: string, title?: string, hint?: string }} body */
  constructor(status, body) {
    super(body.detail || body.title || t("The server refuses."));
    this.status = status;
    this.code = body.code ?? "";
    this.hint = body.hint ?? "";
  }
}

/** What the window hears when a call got no answer: whoever listens to the server had better look again. */
export const TROUBLE = "hearts-trouble";

/** The server cannot be reached. */
export class Unreachable extends Error {}

/** Who plays in this browser, none before the first game. @returns {{ id: string, token: string, name: string } | null} */
export function player() {
  try {
    return JSON.parse(remembered(KEPT) ?? "null");
  } catch {
    return null;
  }
}

/** The player, made under `name` where there is none yet, and renamed where it has another one. @param {string} name */
export async function bePlayer(name) {
  const known = player();
  if (known && known.name === name) return known;
  if (known) {
    const { body } = await call("PATCH", "/v1/me", { name });
    remember(KEPT, JSON.stringify({ ...known, name: body.name }));
  } else {
    const { body } = await call("POST", "/v1/players", { name });
    remember(KEPT, JSON.stringify({ id: body.id, token: body.token, name: body.name }));
  }
  return player();
}

/** The headers that say who asks. @returns {Record<string, string>} */
export function credentials() {
  const me = player();
  return me ? { Authorization: `Bearer ${me.token}` } : {};
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {number} ms */
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/**
 * Make a call and read its answer. A command is sent under a key, so that it is done once however often it has to be sent.
 * Throws `Refusal`, and `Unreachable` where no answer comes in the end.
 * @param {string} method @param {string} path @param {object} [body]
 * @returns {Promise<{ body: any, headers: Headers }>}
 */
export async function call(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", ...credentials() };
  if (body) headers["Content-Type"] = "application/json";
  const once = (method === "POST" || method === "DELETE") && path !== "/v1/players";
  if (once) headers["Idempotency-Key"] = newKey();
  for (const pause of [...PAUSES, 0]) {
    try {
      const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
      const found = await readBody(answer);
      if (answer.ok) {
        if (found.receipt) hearReceipt(found.receipt);
        return { body: found, headers: answer.headers };
      }
      if (!isPassing(answer.status) || !pause) throw refusal(answer.status, found);
      await sleep(1000 * Number(answer.headers.get("Retry-After")) || pause);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      dispatchEvent(new Event(TROUBLE));
      // only what is safe to send twice is sent again
      if (!pause || (!once && method !== "GET")) throw new Unreachable(t("The server cannot be reached."));
      await sleep(pause);
    }
  }
  throw new Unreachable(t("The server cannot be reached."));
}

/** @param {number} status */
const isPassing = (status) => status === 429 || status >= 502;

/** @param {Response} answer @returns {Promise<any>} */
async function readBody(answer) {
  const text = await answer.text();
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return { detail: text.slice(0, 200) };
  }
}

/** @param {number} status @param {any} body */
function refusal(status, body) {
  if (status === 401) remember(KEPT, null); // the token has ended, or the player is forgotten
  return new Refusal(status, body);
}

/** The address of a table in the API, or of a call at it. @param {string} game @param {string} [what] */
export const at = (game, what = "") => `/v1/games/${encodeURIComponent(game)}${what}`;
