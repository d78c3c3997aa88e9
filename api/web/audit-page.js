// @ts-check
/** The page /audit: the server's own report on a game that is over, in words; of one that goes on what can be said by now. */

import { FAILS, byId, claimBox, element, link, problemBox } from "./page-parts.js";
import { lineOf, verify } from "./verify.js";

/** @typedef {import("./verify.js").Claim} Claim */
/** @typedef {{ game: string, ok: boolean, status: string, seq: number, claims: Claim[], problems: { check: string, event: number | null, detail: string }[], settled: boolean }} Report */

/** What each claim comes to, in words. */
const REACHED = {
  F: {
    holds: "The deals were fixed before play. Each seat named below had a part in them that the server could not know when it fixed its own.",
    fails: FAILS.F,
    "not shown": "Nothing shows how the deals came about.",
  },
  I: {
    holds: "All events fit together, as the server has signed them.",
    fails: FAILS.I,
    "not shown": "Nothing signed shows that these are the events that were played.",
  },
  R: {
    holds: "Every card was allowed, and every trick, point and total follows.",
    fails: "A move, a trick or a score is not what the rules say.",
    "not shown": "Not every play could be judged.",
  },
  B: {
    holds: "The bots decided again from what their own seat could see, and came to the same.",
    fails: "A bot did not decide as it should from what its own seat could see.",
    "not shown": "There is no decision of a house bot to check, or none that could be made again.",
  },
};
/** Where something was found that is wrong. @type {Record<string, string>} */
const CHECKS = {
  stream: "the stored events",
  fold: "the game that the events make",
  secrets: "the secrets of the deals",
  snapshot: "the snapshot of the table",
  projection: "the lists of games and players",
  due: "what the house owes the table",
  log: "the public log of all games",
  F: "the deals",
  I: "the chain of events",
  R: "rules and score",
  B: "the bots' decisions",
};
/** What a table waits for. @type {Record<string, string>} */
const PHASES = {
  seats: "It waits for players.",
  pass: "Cards are being passed.",
  play: "Cards are being played.",
  moon: "Somebody who shot the moon is to choose.",
};

const form = byId("form", HTMLFormElement);
const game = byId("game", HTMLInputElement);
const button = byId("go", HTMLButtonElement);
const result = byId("result", HTMLElement);
const verifyLink = byId("verify", HTMLAnchorElement);

/** @param {Node[]} parts */
function show(...parts) {
  result.replaceChildren(...parts);
  result.hidden = false;
}

/** @param {string} id @param {string} [what] */
const address = (id, what = "") => `/v1/games/${encodeURIComponent(id)}${what}`;

/** @param {string} kind @param {string} words @param {(Node | string)[][]} lines */
function verdictBox(kind, words, ...lines) {
  return element("div", `verdict ${kind}`, element("h2", "", words), ...lines.map((line) => element("p", "", ...line)));
}

/** @param {number} at in ms since 1970 UTC */
const moment = (at) => new Date(at).toLocaleString();

/** @param {Report} report */
function showReport(report) {
  const count = report.problems.length;
  const holds = report.claims.some((one) => one.status === "holds");
  const words = count ? `The server finds ${count === 1 ? "something" : `${count} things`} wrong` : holds ? "The server finds nothing wrong" : "Nothing is wrong, and nothing is shown";
  /** @type {(Node | string)[][]} */
  const lines = [[`Game ${report.game}, ${report.seq} events.`]];
  if (!report.settled) lines.push(["The lists and the log have not got all of the game yet: look again in a moment."]);
  const parts = [verdictBox(count ? "fails" : holds ? "holds" : "open", words, ...lines)];
  if (count) parts.push(problemList(report));
  parts.push(...report.claims.map((claim) => claimBox(claim, REACHED[claim.name][claim.status], "", lineOf(claim))));
  parts.push(element("p", "", link(`/verify?game=${encodeURIComponent(report.game)}`, "Check it yourself"), ", in this browser, with what you have kept."));
  show(...parts);
}

/** @param {Report} report */
function problemList({ problems }) {
  const list = element("ul", "");
  for (const { check, event, detail } of problems) {
    const where = event === null ? "" : `, event ${event}`;
    list.append(element("li", "", element("b", "", `In ${CHECKS[check] ?? check}${where}: `), detail));
  }
  return element("section", "faults", element("h3", "", "All that is wrong"), list);
}

/** A game that goes on: why there is no report yet, when there will be, and what the public events show by now. @param {string} id */
async function showLive(id) {
  const answer = await fetch(address(id));
  const table = await answer.json();
  const where = table.hand_number ? `Hand ${table.hand_number}, event ${table.seq}.` : `Event ${table.seq}.`;
  const lines = [
    [`Game ${table.id}. ${where} ${PHASES[table.phase] ?? ""}`],
    ["There is a report when it is over: the secrets of a hand in play are the server's alone until then, and a report on them would tell of the cards."],
  ];
  if (table.abandoned_at) lines.push([`If nobody moves any more, it ends by itself on ${moment(table.abandoned_at)}.`]);
  show(verdictBox("open", "This game goes on", ...lines), element("p", "", "Checking what there is by now …"));
  const proof = await fetch(address(id, "/proof"));
  if (!proof.ok) throw new Error((await proof.json()).detail);
  const report = await verify(await proof.arrayBuffer());
  const parts = report.problem
    ? [problemBox("What there is by now cannot be checked in this browser.", report.problem)]
    : [
      element("h2", "", "What can be said by now"),
      element("p", "", "Your own browser has just checked the public events so far: their chain, and the deals of the hands that are over."),
      ...report.claims.filter(({ name }) => name === "F" || name === "I").map((claim) => claimBox(claim, REACHED[claim.name][claim.status], "", lineOf(claim))),
    ];
  parts.push(element("p", "", link(`/verify?game=${encodeURIComponent(id)}`, "Check it with what you have kept"), "."));
  show(/** @type {Node} */ (result.firstChild), ...parts);
}

/** @param {string} id */
async function look(id) {
  verifyLink.href = `/verify?game=${encodeURIComponent(id)}`;
  show(element("p", "", "The server goes through the game …"), document.createElement("progress"));
  button.disabled = true;
  try {
    const answer = await fetch(address(id, "/audit"));
    const body = await answer.json();
    if (answer.ok) showReport(body);
    else if (body.code === "game/not_over") await showLive(id);
    else if (answer.status === 404) show(problemBox("This server has no such game.", "The id stands in the address of a table."));
    else show(problemBox(body.detail, body.hint));
  } catch (error) {
    show(problemBox("The server does not answer as it should.", /** @type {Error} */ (error).message));
  } finally {
    button.disabled = false;
  }
  result.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const id = game.value.trim();
  if (id) look(id);
  else show(problemBox("Give the id of a game.", "It stands in the address of a table."));
});
const asked = new URLSearchParams(location.search).get("game");
if (asked) {
  game.value = asked;
  form.requestSubmit();
}
