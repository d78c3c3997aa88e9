// @ts-check
/** What moves through a game: a slider, steps by card, trick and hand, play and pause, and the same by keys. */

import { shape } from "./chart.js";
import { button, element } from "./dom.js";
import { speed } from "./pace.js";
import { t } from "./words.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("./moments.js").Size} Size */
/** @typedef {{ go(index: number, passing?: boolean): Promise<void>, step(way: 1 | -1, size: Size): Promise<void> }} Mover */

/** Milliseconds for which a card, and what is larger, stands. @type {Record<string, [number, number]>} */
const PACES = { slow: [1500, 3200], normal: [800, 2000], fast: [300, 900] };

/** What the buttons show, as paths in a square of 24. */
const SIGNS = { card: "M9 5l8 7-8 7z", trick: "M4 5l8 7-8 7zM12 5l8 7-8 7z", hand: "M4 5l11 7-11 7zM16 5h3v14h-3z", play: "M7 4l13 8-13 8z", pause: "M6 4h4v16H6zM14 4h4v16h-4z" };

/** @param {string} path @param {boolean} [mirrored] */
function sign(path, mirrored = false) {
  const svg = shape("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: mirrored ? "sign back" : "sign" });
  svg.append(shape("path", { d: path }));
  return svg;
}

export class Reel {
  /** @param {Mover} mover */
  constructor(mover) {
    this.mover = mover;
    /** @type {Moment[]} */
    this.moments = [];
    this.index = 0;
    this.playing = false;
    this.slider = document.createElement("input");
    Object.assign(this.slider, { type: "range", min: "0", max: "0", value: "0", id: "reel" });
    this.slider.setAttribute("aria-label", t("Moment of the game"));
    this.slider.addEventListener("input", () => {
      this.stop();
      void mover.go(Number(this.slider.value), true);
    });
    this.play = button("", () => this.toggle(), "strong play");
    this.play.dataset.act = "play";
    this.box = element("div", "reel", this.slider, element("div", "steps", this.to(t("Hand before"), -1, "hand"), this.to(t("Trick before"), -1, "trick"), this.to(t("Card before"), -1, "card"), this.play, this.to(t("Next card"), 1, "card"), this.to(t("Next trick"), 1, "trick"), this.to(t("Next hand"), 1, "hand")));
    this.dress();
    this.hear = (/** @type {KeyboardEvent} */ event) => this.key(event);
    addEventListener("keydown", this.hear);
  }

  /** @param {string} words @param {1 | -1} way @param {Size} size */
  to(words, way, size) {
    const made = button("", () => {
      this.stop();
      void this.mover.step(way, size);
    });
    made.append(sign(SIGNS[size], way < 0));
    made.setAttribute("aria-label", words);
    made.title = words;
    made.dataset.step = `${way > 0 ? "next" : "last"}-${size}`;
    return made;
  }

  /** @param {Moment[]} moments */
  offer(moments) {
    this.moments = moments;
    this.slider.max = String(moments.length - 1);
  }

  /** @param {number} index @param {string} words where that is */
  settle(index, words) {
    this.index = index;
    this.slider.value = String(index);
    this.slider.setAttribute("aria-valuetext", words);
  }

  toggle() {
    if (this.playing) this.stop();
    else this.run();
  }

  run() {
    this.playing = true;
    this.dress();
    if (this.index >= this.moments.length - 1) void this.mover.go(0);
    this.wait();
  }

  /** Go on when what is shown has stood. */
  wait() {
    const [card, larger] = PACES[speed()] ?? PACES[speed() === "instant" ? "fast" : "normal"];
    const now = this.moments[this.index];
    this.timer = setTimeout(async () => {
      if (!this.playing) return;
      await this.mover.step(1, "card");
      if (this.index >= this.moments.length - 1) this.stop();
      else if (this.playing) this.wait();
    }, now?.size === "card" ? card : larger);
  }

  stop() {
    this.playing = false;
    clearTimeout(this.timer);
    this.dress();
  }

  close() {
    this.stop();
    removeEventListener("keydown", this.hear);
  }

  dress() {
    this.play.replaceChildren(sign(this.playing ? SIGNS.pause : SIGNS.play));
    this.play.setAttribute("aria-label", this.playing ? t("Pause") : t("Play"));
    this.play.title = this.playing ? t("Pause") : t("Play");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || target.matches("input, select, textarea")) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowRight: () => void this.mover.step(1, "card"),
      ArrowLeft: () => void this.mover.step(-1, "card"),
      ArrowDown: () => void this.mover.step(1, "trick"),
      ArrowUp: () => void this.mover.step(-1, "trick"),
      PageDown: () => void this.mover.step(1, "hand"),
      PageUp: () => void this.mover.step(-1, "hand"),
      Home: () => void this.mover.go(0),
      End: () => void this.mover.go(this.moments.length - 1),
      " ": () => this.toggle(),
    };
    const act = acts[event.key];
    if (!act || (event.key === " " && target.matches("button, a, summary"))) return;
    if (event.key !== " ") this.stop();
    act();
    event.preventDefault();
  }
}
