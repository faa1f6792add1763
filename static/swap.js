// What a swapped page needs: focus that moves on with the work, and failures that are said aloud.
"use strict";

(() => {
  let next = null;

  document.addEventListener("htmx:before:swap", (event) => {
    const card = event.detail.ctx.sourceElement.closest("[data-card]");
    next = card && { id: card.id, after: following(card) };
  });

  document.addEventListener("htmx:after:swap", () => {
    if (!next) return;
    const { id, after } = next;
    next = null;
    const here = document.getElementById(id);
    if (here && here.contains(document.activeElement)) return;
    const goal = here && here.matches("[data-card]") ? here : after;
    const fallback = document.querySelector("[data-after-cards]");
    const focused = goal && goal.isConnected ? goal : fallback;
    if (!focused) return;
    focused.focus({ preventScroll: true });
    focused.scrollIntoView({ block: "nearest" });
  });

  // The next card of the page, else the one before.
  function following(card) {
    const cards = [...document.querySelectorAll("[data-card]")];
    const at = cards.indexOf(card);
    return cards[at + 1] || cards[at - 1] || null;
  }

  function say(text) {
    const problem = document.getElementById("problem");
    if (problem) problem.textContent = text;
  }

  document.addEventListener("htmx:before:request", () => say(""));
  document.addEventListener("htmx:error", () => {
    say("The server can't be reached. Nothing was changed; try again.");
  });
  document.addEventListener("htmx:response:error", (event) => {
    const status = event.detail.ctx.response.status;
    if (status === 409 || status === 422) return;
    if (status === 404) say("This no longer exists. Reload the page.");
    else if (status === 403) say("Your session has ended. Reload the page and sign in.");
    else say("The server failed at this. Nothing was changed; reload the page and try again.");
  });
})();
