// @ts-check
/** The operator's page: how the house does, by /v1/admin/overview, and games that were set aside tried again or left alone. */

import { byId, element, link } from "./page-parts.js";
import { linePicture, piecePicture } from "./admin-pictures.js";

/** @typedef {{ requests: number, commands: number, refused: number, p50: number | null, p99: number | null }} Piece */
/** @typedef {{ name: string, state: string, job: string, since: number, done: number, failed: number, seconds: number }} Worker */
/** @typedef {{ game: string, seq: number, why: string, times: number, at: number, ended: boolean, skipped: boolean, asked: boolean }} Parked */
/**
 * @typedef {{ at: number, appends: number, leaves: number | null, width: number, recent: Piece[], warnings: string[], parked: Parked[], overdue: { game: string, waited_ms: number }[],
 *   figures: { lag: Record<string, number>, games: Record<string, number>, due: number, overdue: number, waited_ms: number, queued: number | null, parked: number, skipped: number, unfolded: number, memory: number | null },
 *   queues: { name: string, waiting: number | null, workers: Worker[] | null }[] }} Overview
 */

const KEPT = "hearts.admin";
/** Milliseconds between two looks. */
const EVERY = 2000;
/** Looks that the pictures of lag and appends go back. */
const LOOKS = 150;

const main = byId("main", HTMLElement);
/** What was seen since the page was opened. @type {Overview[]} */
const seen = [];
let token = sessionStorage.getItem(KEPT) ?? "";

class Refusal extends Error {}

/** @param {string} method @param {string} path @returns {Promise<any>} */
async function call(method, path) {
  const answer = await fetch(path, { method, headers: { Authorization: `Bearer ${token}`, Accept: "application/json" }, cache: "no-store" });
  const body = await answer.json();
  if (answer.ok) return body;
  const error = new Error([body.detail, body.hint].filter(Boolean).join(". "));
  throw answer.status === 401 || answer.status === 403 ? Object.assign(new Refusal(error.message)) : error;
}

/** Ask for a token. @param {string} [why] */
function door(why) {
  const input = document.createElement("input");
  Object.assign(input, { type: "password", id: "token", autocomplete: "off", required: true });
  const label = element("label", "", "A token with the scope admin");
  label.setAttribute("for", "token");
  const go = element("button", "strong", "Look");
  const form = element("form", "panel door", element("h1", "", "The house"), ...(why ? [element("p", "problem", why)] : []), label, input, go, element("p", "quiet", "The command line gives one out: ", element("code", "", "hearts players token PLAYER --scope admin"), ". It is kept until this tab is closed."));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    token = input.value.trim();
    sessionStorage.setItem(KEPT, token);
    void look();
  });
  main.replaceChildren(form);
  input.focus();
}

async function look() {
  try {
    /** @type {Overview} */
    const now = await call("GET", "/v1/admin/overview");
    seen.push(now);
    if (seen.length > LOOKS) seen.shift();
    show(now);
    tell("live", "live");
  } catch (error) {
    if (error instanceof Refusal) {
      sessionStorage.removeItem(KEPT);
      tell("", "");
      door(error.message);
      return;
    }
    tell("lost", /** @type {Error} */ (error).message || "no connection");
  }
  setTimeout(() => void look(), EVERY);
}

/** @param {string} state @param {string} words */
function tell(state, words) {
  const pill = byId("pill", HTMLElement);
  pill.hidden = !state;
  pill.dataset.state = state;
  pill.textContent = words;
}

/** @param {Overview} now */
function show(now) {
  const held = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.asks : undefined;
  const warnings = now.warnings.map((one) => element("p", "problem warn", one));
  main.replaceChildren(element("h1", "", "The house"), ...warnings, figures(now), pictures(now), queues(now), parked(now), overdue(now));
  if (held) /** @type {HTMLElement | null} */ (main.querySelector(`[data-asks="${CSS.escape(held)}"]`))?.focus();
}

/** @param {Overview} now */
function figures({ figures: found, leaves }) {
  const lag = Object.values(found.lag).reduce((sum, n) => sum + n, 0);
  /** @type {[string, string, boolean][]} name, value, whether it is bad */
  const rows = [
    ["open tables", String(found.games.open ?? 0), false],
    ["playing", String(found.games.playing ?? 0), false],
    ["over", String(found.games.over ?? 0), false],
    ["appends to project", String(lag), lag > 1000],
    ["overdue tables", String(found.overdue), found.waited_ms > 5000],
    ["longest wait", seconds(found.waited_ms / 1000), found.waited_ms > 5000],
    ["jobs of bots", found.queued === null ? "no answer" : String(found.queued), found.queued === null],
    ["set aside", String(found.parked), found.parked > 0],
    ["left alone", String(found.skipped), false],
    ["not ranked yet", String(found.unfolded), found.unfolded >= 1000],
    ["leaves of the log", leaves === null ? "spoilt" : String(leaves), leaves === null],
    ["memory of the store", found.memory === null ? "?" : `${(found.memory / 2 ** 20).toFixed(0)} MiB`, false],
  ];
  return element("ul", "figures", ...rows.map(([name, value, bad]) => element("li", bad ? "bad" : "", element("b", "", value), element("span", "", bad ? `▲ ${name}` : name))));
}

/** @param {Overview} now */
function pictures(now) {
  const { recent, width } = now;
  const last = recent[recent.length - 1];
  const lags = seen.map((one) => Object.values(one.figures.lag).reduce((sum, n) => sum + n, 0));
  const rates = seen.slice(1).map((one, at) => (1000 * Math.max(0, one.appends - seen[at].appends)) / Math.max(1, one.at - seen[at].at));
  const latest = [...recent].reverse().find((one) => one.p99 !== null);
  return element(
    "div",
    "pictures",
    piecePicture("Requests a second, this process, 5 minutes", `${(last.requests / width).toFixed(1)}`, recent, width),
    linePicture("A command takes, 99 of 100, this process", latest ? seconds(latest.p99 ?? 0) : "none yet", recent.map((one) => one.p99), seconds),
    linePicture("Appends a second, since this page was opened", (rates[rates.length - 1] ?? 0).toFixed(1), rates, (n) => n.toFixed(1)),
    linePicture("Appends to be projected, since this page was opened", String(lags[lags.length - 1] ?? 0), lags, String),
  );
}

/** @param {Overview} now */
function queues(now) {
  const rows = now.queues.flatMap(({ name, waiting, workers }) => {
    const head = [cell(name), cell(waiting === null ? "no answer" : String(waiting), "n")];
    if (!workers?.length) return [element("tr", "", ...head, cell(workers ? "no worker" : "no answer"), cell(""), cell(""), cell(""))];
    return workers.map((one, at) => element("tr", "", ...(at ? [cell(""), cell("")] : head), cell(one.name), cell(one.job ? `${one.state}: ${one.job}` : one.state), cell(`${one.done} done, ${one.failed} failed`, "n"), cell(`${seconds(one.seconds)} of ${seconds((now.at - one.since) / 1000)}`, "n")));
  });
  return panel("Queues and workers", tableOf(["Queue", "Waiting", "Worker", "At", "Jobs", "Worked"], rows));
}

/** @param {Overview} now */
function parked({ parked: games, at }) {
  if (!games.length) return panel("Set aside", element("p", "quiet", "No game is set aside: all can be folded."));
  const rows = games.map((one) => {
    const marks = [one.ended && "the projector ended", one.skipped && "left alone", one.asked && "to be tried again"].filter(Boolean);
    const asks = [ask(one.game, "retry", "Try again"), ...(one.skipped ? [] : [ask(one.game, "skip", "Leave alone")])];
    return element("tr", "", game(one.game), cell(one.why, "why"), cell([one.times === 1 ? "once" : `${one.times} times`, `${seconds((at - one.at) / 1000)} ago`, ...marks].join(", ")), element("td", "", ...asks));
  });
  return panel("Set aside", tableOf(["Game", "Why", "Tried", ""], rows));
}

/** A button that says what is to become of a game. @param {string} id @param {"retry" | "skip"} what @param {string} words */
function ask(id, what, words) {
  const by = element("button", "", words);
  by.dataset.asks = `${what} ${id}`;
  by.addEventListener("click", () => void change(id, what, by));
  return by;
}

/** @param {string} id @param {string} what @param {HTMLElement} by */
async function change(id, what, by) {
  by.setAttribute("aria-disabled", "true");
  by.textContent = "asked";
  try {
    await call("POST", `/v1/admin/parked/${encodeURIComponent(id)}/${what}`);
  } catch (error) {
    by.textContent = /** @type {Error} */ (error).message;
  }
}

/** @param {Overview} now */
function overdue({ overdue: games }) {
  if (!games.length) return panel("Waiting for the house", element("p", "quiet", "No table waits for a bot or a clock."));
  return panel("Waiting for the house", tableOf(["Game", "For"], games.map((one) => element("tr", "", game(one.game), cell(seconds(one.waited_ms / 1000), "n")))));
}

// --- parts

/** @param {string} title @param {...Node} inside */
const panel = (title, ...inside) => element("section", "panel", element("h2", "", title), ...inside);

/** @param {string} words @param {string} [name] */
const cell = (words, name = "") => element("td", name, words);

/** @param {string} id */
const game = (id) => element("td", "n", link(`/#/table/${encodeURIComponent(id)}`, id), " ", link(`/audit?game=${encodeURIComponent(id)}`, "audit"));

/** @param {string[]} heads @param {Node[]} rows */
function tableOf(heads, rows) {
  const cells = heads.map((words) => {
    const made = element("th", "", words);
    made.setAttribute("scope", "col");
    return made;
  });
  return element("div", "wide", element("table", "", element("thead", "", element("tr", "", ...cells)), element("tbody", "", ...rows)));
}

/** A time in the unit that suits it. @param {number} n */
function seconds(n) {
  if (n < 1) return `${(n * 1000).toFixed(0)} ms`;
  if (n < 120) return `${n.toFixed(1)} s`;
  return n < 7200 ? `${(n / 60).toFixed(0)} min` : `${(n / 3600).toFixed(1)} h`;
}

if (token) void look();
else door();
