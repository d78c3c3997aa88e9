// @ts-check
/** The place where a player sees how the deals come about, and checks the game: before the deal, after a hand, at the end. */

import { believeKeyOf, checkGame, proofOf } from "./checking.js";
import { findings, verdictOf } from "./claims.js";
import { button, element, link, openDialog } from "./dom.js";
import { keptOf } from "./kept.js";
import { canShare, shareOf } from "./share.js";
import { capital, counted, listed, sentences, t } from "./words.js";

/** @typedef {import("./ledger.js").Ledger} Ledger */
/** @typedef {import("./scene.js").Scene} Scene */
/** What is looked at, and `anew`, where there is such, takes the seat again. @typedef {{ ledger: Ledger, scene: () => Scene, anew?: () => void }} About */

/** Digits by which seals are told apart at a glance. */
const FEW = 16;

/** @param {About} about @param {boolean} [check] whether the game is to be checked at once */
export function showFair(about, check = false) {
  const { ledger } = about;
  const facts = element("div", "facts-of-deal");
  const found = element("div", "found");
  const go = button(t("Verify in this browser"), () => void run(), "strong");
  go.dataset.act = "verify";
  const proof = link(proofOf(ledger.game), t("Download the proof"));
  proof.download = "";
  proof.dataset.act = "proof";
  const status = element("p", "verdict");
  status.setAttribute("role", "status");
  status.hidden = true;
  const row = element("div", "check-row", go, proof);
  const checking = element("section", "checking", element("h3", "", t("Check this game")), element("p", "quiet", t("The proof file has all that happened. This browser checks it with what it has kept. The verifier came from this server, too: hearts verify checks the same file without it.")), row, status, found);
  const dialog = openDialog(t("Fair deal"), [facts, checking], "fair");
  const refresh = () => {
    if (facts.contains(document.activeElement)) return; // who reads there is not disturbed
    facts.replaceChildren(...factsOf(about, dialog));
  };
  const tell = (/** @type {string} */ words, kind = "") => {
    status.hidden = false;
    status.className = `verdict ${kind}`;
    status.textContent = words;
  };

  async function run() {
    if (go.getAttribute("aria-disabled") === "true") return;
    go.setAttribute("aria-disabled", "true");
    found.replaceChildren();
    tell(t("Checking …"));
    try {
      const checked = await checkGame(ledger, (done, all) => tell(t("Checking … event {n} of {all}", { n: done, all })));
      if (checked.report.problem) {
        tell(t("The file cannot be checked."), "fails");
        found.replaceChildren(english(checked.report.problem));
      } else {
        const { words, status: kind } = verdictOf(checked);
        tell(`${words} ${counted(checked.report.events, "{n} event was read.", "{n} events were read.")}`, kind);
        found.replaceChildren(...findings(checked, ledger.scored, ledger.serverKey, () => (believeKeyOf(ledger), void run())));
      }
      facts.replaceChildren(...factsOf(about, dialog));
    } catch (error) {
      tell(sentences([/** @type {Error} */ (error).message]), "fails");
    } finally {
      go.removeAttribute("aria-disabled");
      checking.scrollIntoView({ block: "start" });
    }
  }

  refresh();
  void ledger.catchUp().then(refresh, () => {});
  if (check) void run();
  return { refresh: () => dialog.isConnected && refresh() };
}

/** Words of the verifier, which speaks English. @param {string} words */
function english(words) {
  const made = element("p", "said", words);
  made.lang = "en";
  return made;
}

/** @param {About} about @param {HTMLDialogElement} dialog */
function factsOf(about, dialog) {
  const { ledger } = about;
  const scene = about.scene();
  const warnings = ledger.witness.warnings.map((one) => element("p", "problem", one));
  if (ledger.seq && !ledger.anchor) return [...warnings, element("p", "", t("The cards of this table were not dealt here, so nothing can be shown of how they came about."))];
  const parts = [...warnings, element("p", "", whole(ledger, scene)), element("h3", "", t("Who throws something in")), partList(ledger, scene)];
  if (scene.you !== undefined) parts.push(...ownParts(about, scene, scene.you, dialog));
  parts.push(...receiptParts(ledger));
  return parts;
}

/** How the deals come about, as far as it has come. @param {Ledger} ledger @param {Scene} scene */
function whole(ledger, scene) {
  if (!ledger.locked) return t("The cards of every hand come from a secret of the server and a number of each player. All are sealed before anybody can see another, so nobody can choose the cards. When everybody is ready the players' numbers are opened; the server's secret is opened hand by hand, when the hand is over.");
  const names = ledger.locked.flatMap((number, seat) => (number ? [scene.who(seat)] : []));
  if (!names.length) return t("All deals of this game are fixed, by the server's secret alone: no player threw in a number.");
  return t("All deals of this game are fixed, by the server's secret and by what these threw in: {names}. Nobody could choose them.", { names: listed(names) });
}

/** @param {Ledger} ledger @param {Scene} scene */
function partList(ledger, scene) {
  const server = ledger.scored
    ? counted(ledger.scored, "its secret is opened for {n} hand", "its secret is opened for {n} hands")
    : t("its secret is sealed, for {n} hands", { n: ledger.chain });
  const rows = ledger.parts.map((part, seat) => rowOf(capital(scene.who(seat)), partWords(ledger, part, seat), part.commit));
  return element("ul", "throwers", rowOf(t("The server"), server, ledger.anchor), ...rows);
}

/** @param {string} name @param {string} words @param {string} seal */
function rowOf(name, words, seal) {
  return element("li", "", element("b", "", name), element("span", "", words), ...(seal ? [sealOf(seal)] : []));
}

/** @param {string} seal */
function sealOf(seal) {
  const digits = element("code", "seal", `${seal.slice(0, FEW)}…`);
  digits.title = seal;
  return digits;
}

/** What a seat throws in. @param {Ledger} ledger @param {import("./ledger.js").Part} part @param {number} seat */
function partWords(ledger, part, seat) {
  if (part.kind === "open") return t("the seat is free");
  if (part.kind === "bot") return t("a house bot throws nothing in");
  if (!part.commit) return t("no number");
  if (ledger.locked) return ledger.locked[seat] ? t("number opened, in every deal") : t("number not opened in time, and left out");
  return part.opened ? t("number opened") : t("number sealed");
}

/** @param {About} about @param {Scene} scene @param {number} you @param {HTMLDialogElement} dialog */
function ownParts({ ledger, anew }, scene, you, dialog) {
  const part = ledger.parts[you];
  const parts = [element("h3", "", t("My number"))];
  if (!part?.commit) {
    parts.push(element("p", "", canShare() ? t("You threw in no number: the deals come without you.") : t("Browsers lend their cryptography only to pages that came by https. This one did not, so you throw in no number, and the deals come without you.")));
    return parts;
  }
  const number = shareOf(part.commit);
  if (ledger.locked) {
    parts.push(element("p", "", ledger.locked[you] ? t("It was opened, and is in every deal of this game:") : t("The cards are dealt without your number: it was not opened in time.")));
  } else if (ledger.isLost(you)) {
    parts.push(element("p", "problem", t("It was made in another browser, or what was kept here is gone: it cannot be opened here.")));
    const free = anew && !scene.table.seats.some((one) => one.ready && one.kind === "player");
    if (free) parts.push(button(t("Sit down anew with another number"), () => (dialog.close(), anew()), "strong"));
    return parts;
  } else {
    parts.push(element("p", "", part.opened ? t("It is opened:") : t("This browser made it by chance and keeps it for you. It is opened when you are ready, at the latest shortly before the deal. Until then only you know it:")));
  }
  if (number) parts.push(element("p", "", element("code", "digits", number)));
  parts.push(element("p", "quiet", t("Its seal, which all at the table have seen since you sat down:"), " ", element("code", "digits", part.commit)));
  return parts;
}

/** @param {Ledger} ledger */
function receiptParts({ game }) {
  const { receipt, forked, count, checkpoint } = keptOf(game);
  if (!count && !checkpoint) return [];
  const parts = [element("h3", "", t("Receipts"))];
  const came = counted(count, "The server has signed {n} receipt for this browser.", "The server has signed {n} receipts for this browser.");
  if (receipt) {
    const words = t("The last one, of event {n}, is kept: it covers all before it.", { n: receipt.seq });
    parts.push(element("p", "", `${came} ${words}`), element("p", "", fileOf(`hearts-${game}-receipt.json`, { receipt }, t("Download the receipt"))));
  } else if (count) {
    parts.push(element("p", "", came));
  }
  if (forked) parts.push(element("p", "problem", t("One of event {n} shows another history. Keep it: it proves that the server has signed both.", { n: forked.seq })), element("p", "", fileOf(`hearts-${game}-other.json`, { receipt: forked }, t("Download the receipt"))));
  if (checkpoint) parts.push(element("p", "", t("Where this game stands in the server's public log is kept, too.")));
  return parts;
}

/** A link by which something is kept as a file. @param {string} name @param {object} content @param {string} words */
function fileOf(name, content, words) {
  const made = link(`data:application/json;charset=utf-8,${encodeURIComponent(JSON.stringify(content))}`, words);
  made.download = name;
  return made;
}
