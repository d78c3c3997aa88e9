// @ts-check
/** How fast the table is shown: every card stands for a moment, and a trick until it can have been seen. */

import { remember, remembered } from "./memory.js";
import { t } from "./words.js";

const KEPT = "hearts.speed";
/** Milliseconds for a card, and for a full trick; endless waits for the player. @type {Record<string, [number, number]>} */
const SPEEDS = { instant: [0, 0], fast: [180, 700], normal: [420, 1500], slow: [900, 2800], step: [420, Infinity] };

/** @returns {[string, string][]} */
export function speedChoices() {
  return [
    ["instant", t("At once")],
    ["fast", t("Fast")],
    ["normal", t("Normal")],
    ["slow", t("Slow")],
    ["step", t("Each trick waits for me")],
  ];
}

export function speed() {
  const kept = remembered(KEPT) ?? "";
  return kept in SPEEDS ? kept : "normal";
}

/** @param {string} name */
export function setSpeed(name) {
  remember(KEPT, name);
  skip();
}

/** Ends the present wait. @type {() => void} */
let end = () => {};

/** Go on at once with what comes next; whether there was something to be skipped. */
export function skip() {
  const waiting = isWaiting;
  end();
  return waiting;
}

let isWaiting = false;

/** Milliseconds for which the last trick is looked at again before the game goes on. */
const LOOK = 4000;

/** Let what is shown stand. @param {"card" | "trick" | "look"} what */
export async function stand(what) {
  const [card, trick] = SPEEDS[speed()];
  const ms = { card, trick, look: LOOK }[what];
  if (!ms) return;
  isWaiting = true;
  await new Promise((done) => {
    const timer = Number.isFinite(ms) ? setTimeout(() => done(null), ms) : 0;
    end = () => {
      clearTimeout(timer);
      done(null);
    };
  });
  isWaiting = false;
  end = () => {};
  if (what === "trick" && document.hidden) await becomesVisible();
}

function becomesVisible() {
  return new Promise((done) => document.addEventListener("visibilitychange", () => done(null), { once: true }));
}
