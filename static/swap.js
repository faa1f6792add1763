// What a swapped page needs: focus that moves on with the work, and failures that are said aloud.
"use strict";

(() => {
  // By request, for several may be under way at once: the card that it is about.
  const subjects = new WeakMap();

  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx } = event.detail;
    const source = ctx.sourceElement;
    const id = source.closest("[id^=fact-]")?.id;
    subjects.set(ctx, { id, isUndo: source.querySelector("[data-undo]") !== null });
  });

  // The count is part of the answer; the title follows it.
  function retitle() {
    const count = document.getElementById("waiting-count")?.firstChild?.textContent.trim();
    const title = document.title.trim().replace(/^\(\d+\+?\)\s*/, "");
    document.title = count ? `(${count}) ${title}` : title;
  }

  document.addEventListener("htmx:after:swap", (event) => {
    retitle();
    const { id, isUndo } = subjects.get(event.detail.ctx) ?? {};
    const here = document.getElementById(id);
    if (!here) return;
    const isBack = here.matches("[data-card]");
    // Whoever went on meanwhile keeps their place: only a focus that the swap took away is moved,
    // or one that asked for a card to come back.
    if (document.activeElement !== document.body && !(isUndo && isBack)) return;
    const goal = isBack ? here : following(here);
    goal?.focus({ preventScroll: true });
    goal?.scrollIntoView({ block: "nearest" });
  });

  // The next card, else the one before, else what comes after all cards.
  function following(here) {
    const cards = [...document.querySelectorAll("[data-card]")];
    const isBehind = (card) =>
      here.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING;
    return cards.find(isBehind) ?? cards.at(-1) ?? document.querySelector("[data-after-cards]");
  }

  function say(text) {
    const problem = document.getElementById("problem");
    if (problem) problem.textContent = text;
  }

  document.addEventListener("htmx:before:request", () => say(""));
  document.addEventListener("htmx:error", () => {
    say("The server can't be reached. When it is back, reload the page to see what it stored.");
  });
  document.addEventListener("htmx:response:error", (event) => {
    const status = event.detail.ctx.response.status;
    if (status === 409 || status === 422) return;
    if (status === 404) say("This no longer exists. Reload the page.");
    else if (status === 403) say("Your session has ended. Reload the page and sign in.");
    else say("The server failed at this. Reload the page to see what it stored, and try again.");
  });
})();
