// @ts-check
/** The page /verify: takes a proof file, and tells what `verify` finds in words for players. */

import { FAILS, byId, claimBox, element, link, problemBox } from "./page-parts.js";
import { lineOf, verify } from "./verify.js";

/** @typedef {import("./verify.js").Claim} Claim */
/** @typedef {import("./verify.js").Report} Report */

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
    throw new Error("the server does not answer");
  });
  if (answer.ok) return answer.arrayBuffer();
  const problem = await answer.json().catch(() => ({}));
  throw new Error(answer.status === 404 ? "this server has no such game" : problem.detail ?? `the server answers ${answer.status}`);
}

/** How far a claim that does not fail is shown, and what would show more. @param {Claim} claim @param {Report} report @returns {[string, string]} */
function level(claim, report) {
  const holds = claim.status === "holds";
  if (claim.name === "F") {
    if (holds) return ["The deals were fixed before play. Each seat named below had a part in them that the server could not know when it fixed its own.", "A seat that is not named depends on the others: its client has to contribute when it sits down, as hearts play does."];
    return ["Nothing shows how the deals came about.", claim.detail.startsWith("no hand") ? "Check again when a hand is over." : ""];
  }
  if (claim.name === "I") return integrityLevel(holds, report);
  if (claim.name === "R") return ["Not looked at here.", "hearts verify checks every play and every score of the same file."];
  return ["Not looked at here.", ""];
}

/** @param {boolean} holds @param {Report} report @returns {[string, string]} */
function integrityLevel(holds, { keptTo, keyPinned, signatures, unshown, events }) {
  if (unshown) return ["What was before the game came to this server cannot be shown.", ""];
  if (!signatures) return ["This browser cannot check signatures.", "A newer one can, and hearts verify."];
  const steps = [];
  if (!keptTo) steps.push("a receipt or checkpoint that you kept: a server can sign a changed file anew, but not take yours back");
  if (!keyPinned) steps.push("the server's key from elsewhere: then nobody can put up another server in its place");
  if (keptTo && keptTo < events) steps.push(`a receipt of a later event than ${keptTo}: what came after it stands in this file alone`);
  const next = steps.length ? `To show more, add ${steps.join("; and ")}.` : "Nothing more can be shown than this.";
  if (!holds) return ["Level 0 of 3: the events fit together, and nothing signed shows that they are the ones that were played.", next];
  const own = `by what you kept, up to event ${keptTo}`;
  if (keptTo) return [keyPinned ? `Level 3 of 3: ${own}, under a key that you know.` : `Level 2 of 3: ${own}.`, next];
  return [keyPinned ? "Level 2 of 3: by the word, in this file, of a server whose key you know." : "Level 1 of 3: by the word of the server in this file.", next];
}

/** @param {Claim} claim @param {Report} report */
function boxOf(claim, report) {
  const [reached, next] = claim.status === "fails" ? [FAILS[claim.name], ""] : level(claim, report);
  return claimBox(claim, reached, next, lineOf(claim));
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
  if (report.faulty) parts.splice(1, 0, element("div", "fault", element("h3", "", `Event ${firstAt} as it stands in the file`), element("pre", "", report.faulty)));
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
    showProblem(`The file cannot be read: ${/** @type {Error} */ (error).message}.`);
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
