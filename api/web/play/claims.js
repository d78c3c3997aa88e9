// @ts-check
/** What the verifier found, claim by claim, in words for players. */

import { claimBox, isByServer } from "/page-parts.js";
import { button, element, link } from "./dom.js";
import { counted, t } from "./words.js";

/** @typedef {import("../verify.js").Claim} Claim */
/** @typedef {import("../verify.js").Report} Report */
/** @typedef {import("./checking.js").Checked} Checked */

const MOST_SHOWN = 1200;

/** The verdict in a sentence, and how it is to be shown. @param {Checked} checked @returns {{ words: string, status: "holds" | "fails" | "open" }} */
export function verdictOf({ report, own }) {
  const failed = report.claims.find((one) => one.status === "fails");
  if (failed && failed.event !== null) return { words: t("Something is wrong: look at event {n}.", { n: failed.event }), status: "fails" };
  if (failed || own?.status === "fails") return { words: t("Something is wrong."), status: "fails" };
  if (report.claims.some((one) => one.status === "holds")) return { words: t("Nothing is wrong with what can be shown."), status: "holds" };
  return { words: t("Nothing is wrong, and nothing is shown yet."), status: "open" };
}

/** All that was found. @param {Checked} checked @param {number} scored hands that are over @param {string} serverKey that the game names @param {() => void} believe */
export function findings(checked, scored, serverKey, believe) {
  const { report, lines, own } = checked;
  const parts = report.claims.map((claim) => boxOf(claim, report, scored));
  if (own) parts.splice(1, 0, claimBox({ name: "own", status: own.status }, own.words, "", "", { question: t("Is my own number in the deals?"), badge: badgeOf(own.status) }));
  const said = element("pre", "", lines.join("\n"));
  said.lang = "en";
  const more = [element("details", "more words", element("summary", "", t("In the verifier's own words")), said)];
  if (report.faulty) more.unshift(faultBox(report));
  const otherKey = report.claims.some((one) => one.name === "I" && one.event === 1 && one.status === "fails");
  if (otherKey) more.unshift(element("div", "", element("p", "", t("The game begins under the key {key}…, which is not the one that this browser first saw here. If the operator has set up the server anew you may take it for the server's from now on; else somebody else answers in its place.", { key: serverKey.slice(0, 16) })), button(t("Take this key for the server's"), believe)));
  const game = encodeURIComponent(report.game);
  return [...parts, ...more, element("p", "ways-on", link(`/audit?game=${game}`, t("The server's report")), link(`/verify?game=${game}`, t("Check it with other evidence")))];
}

/** @param {Report} report */
function faultBox({ faulty, claims }) {
  const number = claims.find((one) => one.status === "fails" && one.event !== null)?.event ?? 0;
  const shown = faulty.length > MOST_SHOWN ? `${faulty.slice(0, MOST_SHOWN)}…` : faulty;
  return element("div", "fault", element("h3", "", t("Event {n} as it stands in the file", { n: number })), element("pre", "", shown));
}

/** @param {Claim} claim @param {Report} report @param {number} scored */
function boxOf(claim, report, scored) {
  const question = { F: t("Was the shuffle fair?"), I: t("Is every event as it happened?"), R: t("Did all play by the rules?"), B: t("Did the house bots play honestly?") }[claim.name];
  const elsewhere = claim.status === "not shown" && (claim.name === "R" || claim.name === "B");
  const badge = isByServer(claim) ? t("its server says so") : elsewhere ? t("not looked at here") : badgeOf(claim.status);
  const box = claimBox(claim, reached(claim, report, scored), next(claim, report), claim.status === "fails" ? claim.detail : "", { question, badge });
  const said = box.querySelector(".said");
  if (said) /** @type {HTMLElement} */ (said).lang = "en";
  return box;
}

/** @param {Claim["status"]} status */
function badgeOf(status) {
  return { holds: t("holds"), fails: t("FAILS"), "not shown": t("not shown") }[status];
}

/** How far a claim is shown. @param {Claim} claim @param {Report} report @param {number} scored */
function reached(claim, report, scored) {
  switch (claim.name) {
    case "F":
      return fairness(claim, report, scored);
    case "I":
      return integrity(claim, report);
    case "R":
      return claim.status === "fails" ? t("The file is not what a server of this kind writes.") : t("This browser does not look at it; hearts verify does, with the same file.");
    default:
      return t("This browser does not look at it; hearts verify does, with the same file.");
  }
}

/** @param {Claim} claim @param {Report} report @param {number} scored */
function fairness({ status, level, detail, reached: shown }, { unshown }, scored) {
  if (status === "fails") return t("The deals are not what the server committed to before play, or somebody's number was not used as it was given.");
  if (unshown) return t("The cards of this table were not dealt here, so nothing can be shown of how they came about.");
  if (!shown) return t("The events cannot be read, so nothing is shown of the deals.");
  if (detail.includes("sealed until")) return t("The cards stay sealed until every table of the group has finished the hand.");
  if (!scored) return t("No hand is over yet: a deal can be checked when its hand is over.");
  const hands = counted(scored, "{n} hand was looked at.", "{n} hands were looked at.");
  if (level === 2) return `${t("The deals were fixed before play, and every player had a part in them that nobody could foresee.")} ${hands}`;
  if (level === 1) return `${t("The deals were fixed before play. Not every player had a part in them: for who had none it is the others' word.")} ${hands}`;
  return `${t("The deals were fixed before play, by the server alone: no player threw in a number.")} ${hands}`;
}

/** @param {Claim} claim @param {Report} report */
function integrity({ status, level }, { events, keptTo, keyPinned, signatures }) {
  if (status === "fails") return t("These are not the events that the server has signed or numbered: they were changed, left out, moved or cut off.");
  if (!signatures) return t("This browser cannot check signatures. The events fit together.");
  const upTo = { n: keptTo, all: events };
  if (keptTo && keyPinned) return t("What this browser kept shows it, up to event {n} of {all}, under the key by which it has known this server.", upTo);
  if (keptTo) return t("What this browser kept shows it, up to event {n} of {all}.", upTo);
  if (level === 2) return t("A server says so whose key this browser knew before; nothing was kept here of the game itself.");
  return level === 1 ? t("Only the server that gave the file says so.") : t("The events fit together, and nothing signed shows that they are the ones that were played.");
}

/** What would show more. @param {Claim} claim @param {Report} report */
function next({ name, status, level }, { keptTo, events, unshown }) {
  if (status === "fails" || unshown) return "";
  if (name === "F" && (level === 0 || level === 1)) return t("Who sits down in a browser, or by hearts play, throws a number in.");
  if (name === "I" && keptTo && keptTo < events) return t("What came after that stands in the file alone. While the game runs the answer to your next move covers it; when it is over the server's public log does, from the second check on.");
  if (name === "I" && !keptTo) return t("Whoever plays here keeps a receipt of each of their moves, which shows more.");
  return "";
}
