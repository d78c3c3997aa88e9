// @ts-check
/** The page /verify: takes a proof file, and tells what `verify` finds in words for players. */

import { FAILS, byId, claimBox, element, link, problemBox } from "./page-parts.js";
import { lineOf, verify } from "./verify.js";

/** @typedef {import("./verify.js").Claim} Claim */
/** @typedef {import("./verify.js").Report} Report */

const MOST_SHOWN = 2000;
/** What this page has for the options of the command, whose words `verify` tells. @type {[RegExp, string][]} */
const FIELDS = [
  [/--receipt\b/g, "the field A receipt"],
  [/--checkpoint\b/g, "A checkpoint of the log"],
  [/--server-keys\b/g, "the field The server's list of keys"],
  [/--server-key\b/g, "the field The server's key"],
];
const HERE = "as this server tells it now";

const form = byId("form", HTMLFormElement);
const game = byId("game", HTMLInputElement);
const file = byId("file", HTMLInputElement);
const drop = byId("drop", HTMLElement);
const button = byId("go", HTMLButtonElement);
const result = byId("result", HTMLElement);
const kept = {
  receipt: byId("receipt", HTMLTextAreaElement),
  checkpoint: byId("checkpoint", HTMLTextAreaElement),
  key: byId("key", HTMLInputElement),
  keys: byId("keys", HTMLTextAreaElement),
};

/** @param {Node[]} parts */
function show(...parts) {
  result.replaceChildren(...parts);
  result.hidden = false;
}

/** @param {string} what @param {string} [hint] */
const showProblem = (what, hint) => show(problemBox(what, hint));

/** @param {string} id @returns {Promise<ArrayBuffer>} the proof file of a game of this server; throws what to tell */
async function fetchProof(id) {
  const answer = await fetch(`/v1/games/${encodeURIComponent(id)}/proof`).catch(() => {
    throw new NotGiven("the server does not answer");
  });
  if (answer.ok) return answer.arrayBuffer();
  const problem = await answer.json().catch(() => ({}));
  throw new NotGiven(answer.status === 404 ? "this server has no such game" : problem.detail ?? `the server answers ${answer.status}`);
}

/** The server has not given the file, and has said why. */
class NotGiven extends Error {}

/** Words of the command, with this page's fields for its options. @param {string} words */
const byFields = (words) => FIELDS.reduce((told, [option, field]) => told.replace(option, field), words);

const sentence = (/** @type {string} */ words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** How far a claim that does not fail is shown, and what would show more. @param {Claim} claim @param {Report} report @returns {[string, string]} */
function level({ name, level, top, reached, next }, { unshown }) {
  if (!reached) return [unshown && name === "I" ? "What was before the game came to this server cannot be shown." : "It cannot be shown.", ""];
  const told = level === null ? sentence(reached) : `Level ${level} of ${top}: ${reached}.`;
  return [told, next ? sentence(next) : "Nothing more can be shown than this."];
}

/** @param {Claim} claim @param {Report} report */
function boxOf(claim, report) {
  const [reached, next] = claim.status === "fails" ? [FAILS[claim.name], ""] : level(claim, report);
  return claimBox(claim, reached, byFields(next), byFields(lineOf(claim)));
}

/** The event at fault, of which as much is shown as can be read. @param {number | null} number @param {string} line */
function faultBox(number, line) {
  const cut = line.length > MOST_SHOWN;
  const box = element("div", "fault", element("h3", "", `Event ${number} as it stands in the file`), element("pre", "", cut ? `${line.slice(0, MOST_SHOWN)}…` : line));
  if (cut) box.append(element("p", "", `The first ${MOST_SHOWN} of ${line.length} characters.`));
  return box;
}

/** @param {Report} report @param {string} from where the file came from */
function showReport(report, from) {
  if (report.problem) {
    showProblem("The file cannot be checked.", report.problem);
    return;
  }
  const fails = report.claims.filter((one) => one.status === "fails");
  const firstAt = fails[0]?.event ?? null;
  const holds = report.claims.some((one) => one.status === "holds");
  const words = fails.length
    ? `Something is wrong${firstAt === null ? "" : `: look at event ${firstAt}`}`
    : holds ? "Nothing is wrong with what can be shown" : report.unshown ? "Nothing is wrong with what can be seen" : "Nothing is wrong, and nothing is shown yet";
  const verdict = element("div", `verdict ${fails.length ? "fails" : holds ? "holds" : "open"}`, element("h2", "", words));
  verdict.append(element("p", "", `Game ${report.game}, ${report.events} events, ${from}.`));
  const parts = [verdict, ...report.claims.map((claim) => boxOf(claim, report))];
  if (report.faulty) parts.push(faultBox(firstAt, report.faulty));
  if (from === HERE) {
    parts.push(element("p", "", "R and B are checked by hearts verify. ", link(`/audit?game=${encodeURIComponent(report.game)}`, "The server's own report"), " has its word on all four, once the game is over."));
  }
  show(...parts);
  result.focus();
}

/** @param {string} from @param {() => Promise<ArrayBuffer>} read */
async function check(from, read) {
  const bar = document.createElement("progress");
  show(element("p", "", "Checking …"), bar);
  button.disabled = true;
  try {
    const report = await verify(await read(), {
      serverKey: kept.key.value.trim().toLowerCase(),
      serverKeys: kept.keys.value.trim(),
      receipts: kept.receipt.value.trim() ? [kept.receipt.value] : [],
      checkpoints: kept.checkpoint.value.trim() ? [kept.checkpoint.value] : [],
      progress: (done, all) => ([bar.value, bar.max] = [done, all]),
    });
    showReport(report, from);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    showProblem(error instanceof NotGiven ? sentence(message.replace(/\.$/, "")) : `The file cannot be read: ${message}.`);
  } finally {
    button.disabled = false;
  }
}

const checkFile = (/** @type {File | undefined} */ chosen) => chosen && check(`from ${chosen.name}`, () => chosen.arrayBuffer());

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const id = game.value.trim();
  if (id) check(HERE, () => fetchProof(id));
  else if (file.files?.length) checkFile(file.files[0]);
  else showProblem("Give the id of a game, or choose a proof file.", "The id stands in the address of a table; the file is what /v1/games/ID/proof answers.");
});
file.addEventListener("change", () => {
  game.value = "";
  checkFile(file.files?.[0]);
});
for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
  });
}
drop.addEventListener("drop", (event) => {
  const files = event.dataTransfer?.files;
  if (!files?.length) return;
  file.files = files;
  game.value = "";
  checkFile(files[0]);
});
const asked = new URLSearchParams(location.search).get("game");
if (asked) {
  game.value = asked;
  form.requestSubmit();
}
