// @ts-check
/** Elements, and what is said to those who listen. */

export { byId, element, link } from "/page-parts.js";
import { byId, element } from "/page-parts.js";
import { t } from "./words.js";

/** Sentences that are kept for who reads back. */
const KEPT = 30;

/** @param {string} words @param {(event: MouseEvent) => void} act @param {string} [className] */
export function button(words, act, className = "") {
  const made = document.createElement("button");
  made.type = "button";
  if (className) made.className = className;
  made.append(words);
  made.addEventListener("click", act);
  return made;
}

/** A labelled choice. @param {string} words @param {string} id @param {[string, string][]} options value and text @param {string} [chosen] */
export function choice(words, id, options, chosen) {
  const select = document.createElement("select");
  select.id = id;
  fill(select, options, chosen);
  const label = document.createElement("label");
  label.htmlFor = id;
  label.append(words);
  return { select, box: element("div", "choice", label, select) };
}

/** Give a choice other options, keeping what is chosen where it is still there. @param {HTMLSelectElement} select @param {[string, string][]} options @param {string} [chosen] */
export function fill(select, options, chosen = select.value) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, false, value === chosen)));
}

/** Tell those who listen, politely: after what is being read to them. @param {string} sentence */
export function say(sentence) {
  const live = byId("live", HTMLElement);
  live.append(element("p", "", sentence));
  while (live.childElementCount > KEPT) live.firstElementChild?.remove();
}

/** A dialog with a heading and a way out, opened; gone when it is closed. @param {string} title @param {(Node | string)[]} inside @param {string} [name] for who looks for it */
export function openDialog(title, inside, name = "") {
  const dialog = document.createElement("dialog");
  const heading = element("h2", "", title);
  heading.id = `dialog-${Date.now()}`;
  dialog.setAttribute("aria-labelledby", heading.id);
  if (name) dialog.dataset.name = name;
  const close = button("×", () => dialog.close(), "close");
  close.setAttribute("aria-label", t("Close"));
  dialog.append(close, heading, ...inside);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the ground around it
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Have a style sheet that is wanted only now. @param {string} address */
export function sheet(address) {
  if (document.querySelector(`link[href="${address}"]`)) return;
  const made = document.createElement("link");
  Object.assign(made, { rel: "stylesheet", href: address });
  document.head.append(made);
}
