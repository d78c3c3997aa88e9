// @ts-check
/** The published variants as the server tells them, asked for once. */

import { call } from "./client.js";
import { language } from "./words.js";

/** @typedef {import("./shapes.js").Variant} Variant */

/** By language. @type {Map<string, Promise<Variant[]>>} */
const asked = new Map();

/** @returns {Promise<Variant[]>} */
export function variants() {
  const code = language();
  const known = asked.get(code);
  if (known) return known;
  const found = call("GET", `/v1/variants?language=${code}`).then(({ body }) => body.variants);
  found.catch(() => asked.delete(code));
  asked.set(code, found);
  return found;
}

/** What people call a variant; its name where that is not known. @param {string} name */
export async function titleOf(name) {
  try {
    return (await variants()).find((one) => one.name === name)?.title ?? name;
  } catch {
    return name;
  }
}
