// @ts-check
/** The page /verify: takes a proof file, and tells what `verify` finds in words for players. */

import { lineOf, verify } from "./verify.js";

/** @typedef {import("./verify.js").Claim} Claim */
/** @typedef {import("./verify.js").Report} Report */

const QUESTIONS = {
  F: "Was the shuffle fair?",
  I: "Is every event as it happened?",
  R: "Did all play by the rules?",
  B: "Did the house bots play honestly?",
};
const BADGES = { holds: "holds", fails: "fails", "not shown": "not shown" };
const FAILS = {
  F: "The deals are not what the server committed to before play, or somebody's part in the shuffle was not used as it was given.",
  I: "These are not the events that the server has signed or numbered: they were changed, left out, moved or cut off.",
  R: "The file is not what a server of this kind writes.",
  B: "",
};

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

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

/** @param {string} name @param {string} className @param {(Node | string)[]} inside */
function element(name, className, ...inside) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...inside);
  return made;
}

/** @param {Node[]} parts */
function show(...parts) {
  result.replaceChildren(...parts);
  result.hidden = false;
}

/** @param {string} what @param {string} [hint] */
function showProblem(what, hint) {
  const box = element("div", "problem", element("strong", "", what));
  if (hint) box.append(element("p", "", hint));
  show(box);
}

/** @param {string} id @returns {Promise<ArrayBuffer>} the proof file of a game of this server; throws what to tell */
async function fetchProof(id) {
  const answer = await fetch(`/v1/games/${encodeURIComponent(id)}/proof`).catch(() => {
    throw new Error("the server does not answer");
  });
  if (answer.ok) return answer.arrayBuffer();
  const problem = await answer.json().catch(() => ({}));
  throw new Error(answer.status === 404 ? "this server has no such game" : problem.detail ?? `the server answers ${answer.status}`);
}

const sentence = (/** @type {string} */ words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** How far a claim that does not fail is shown, and what would show more. @param {Claim} claim @param {Report} report @returns {[string, string]} */
function level({ name, level, top, reached, next }, { unshown }) {
  if (!reached) return [unshown && name === "I" ? "What was before the game came to this server cannot be shown." : "It cannot be shown.", ""];
  const told = level === null ? sentence(reached) : `Level ${level} of ${top}: ${reached}.`;
  return [told, next ? sentence(next) : "Nothing more can be shown than this."];
}

/** @param {Claim} claim @param {Report} report */
function claimBox(claim, report) {
  const [reached, next] = claim.status === "fails" ? [FAILS[claim.name], ""] : level(claim, report);
  // what only the file's own server says is not told as what holds
  const byServer = claim.name === "I" && claim.status === "holds" && claim.level === 1;
  const box = element("article", `claim ${claim.status === "not shown" || byServer ? "open" : claim.status}`);
  box.dataset.claim = claim.name;
  box.append(
    element("h3", "", QUESTIONS[claim.name], element("span", "badge", byServer ? "its server says so" : BADGES[claim.status])),
    element("p", "level", element("b", "", reached)),
  );
  if (next) box.append(element("p", "", next));
  box.append(element("p", "said", lineOf(claim)));
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
  const parts = [verdict, ...report.claims.map((claim) => claimBox(claim, report))];
  if (report.faulty) parts.splice(1, 0, element("div", "fault", element("h3", "", `Event ${firstAt} as it stands in the file`), element("pre", "", report.faulty)));
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
  if (id) check("as this server tells it now", () => fetchProof(id));
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
