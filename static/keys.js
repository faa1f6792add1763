// Keys for a list of cards. The focused card is the state: no other is kept.
// A card is [data-card]; inside it, what carries data-key="x" is clicked when x is pressed.
"use strict";

(() => {
  const FIELDS = "input:not([type=hidden], [type=checkbox]), textarea, select, [contenteditable]";
  const FIRST = "[data-first], input:not([type=hidden]), textarea";
  const cards = () => [...document.querySelectorAll("[data-card]")];

  function focusCard(card) {
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  // Past the last card, and before the first, lie other pages.
  function move(step) {
    const all = cards();
    const at = all.indexOf(document.activeElement.closest("[data-card]"));
    const next = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
    if (next) return focusCard(next);
    document.querySelector(step > 0 ? "[data-next]" : "[data-previous]")?.click();
    if (step > 0) document.querySelector("[data-after-cards]")?.focus();
  }

  function press(key) {
    const card = document.activeElement.closest("[data-card]");
    const control = card && card.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!control) return false;
    control.click();
    const fold = control.closest("details");
    if (fold && control.matches("summary")) fold.querySelector(FIRST)?.focus();
    return true;
  }

  // The latest outcome on the page; without one, the list of what was decided.
  function undo() {
    const all = [...document.querySelectorAll("[data-undo]")];
    const at = (button) => Number(button.dataset.undo);
    const latest = all.reduce((last, button) => (!last || at(button) > at(last) ? button : last), null);
    (latest ?? document.querySelector("[data-decided]"))?.click();
  }

  function escape() {
    const card = document.activeElement.closest("[data-card]");
    if (!card) return;
    card.querySelector("[data-cancel]")?.click();
    card.querySelectorAll("details[open]").forEach((fold) => { fold.open = false; });
    focusCard(card);
  }

  function help() {
    const dialog = document.getElementById("keys");
    if (dialog && !dialog.open) dialog.showModal();
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return escape();
    if (event.target.matches(FIELDS)) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") help();
    else if (event.key === "u" && !event.repeat) undo();
    else if (event.key.length !== 1 || event.repeat || !press(event.key)) return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-help]")) help();
  });
  document.querySelectorAll("[data-keys-help]").forEach((button) => { button.hidden = false; });
  // One card at a time, that one is meant; on a later page of the list, its first.
  const goesOn = new URLSearchParams(location.search).has("after");
  const first = document.querySelector(goesOn ? "[data-card]" : ".one [data-card]");
  if (!location.hash) first?.focus({ preventScroll: true });
})();
