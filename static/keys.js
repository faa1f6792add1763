// Keys for a list of cards. The focused card is the state: no other is kept.
// A card is [data-card]; inside it, what carries data-key="x" is clicked when x is pressed.
"use strict";

(() => {
  const FIELDS = "input:not([type=hidden]), textarea, select, [contenteditable]";
  const cards = () => [...document.querySelectorAll("[data-card]")];

  function focusCard(card) {
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }

  function move(step) {
    const all = cards();
    const at = all.indexOf(document.activeElement.closest("[data-card]"));
    const next = at < 0 ? all[step > 0 ? 0 : all.length - 1] : all[at + step];
    if (next) focusCard(next);
  }

  function press(key) {
    const card = document.activeElement.closest("[data-card]");
    const control = card && card.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!control) return false;
    control.click();
    const fold = control.closest("details");
    if (fold && control.matches("summary")) fold.querySelector(FIELDS)?.focus();
    return true;
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
    else if (event.key.length !== 1 || event.repeat || !press(event.key)) return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-keys-help]")) help();
  });
  document.querySelectorAll("[data-keys-help]").forEach((button) => { button.hidden = false; });
})();
