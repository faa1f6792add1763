// Files dropped on a form, or chosen in it, go up one by one, each with its progress.
// The form is form[data-upload]; without this script it is an ordinary one.
"use strict";

(() => {
  const NO_ANSWER = "The server can't be reached, or hung up.";
  const SIGNED_OUT = "Your session has ended. Reload the page and sign in.";
  const NO_COLLECTION = "This collection no longer exists.";
  const FOLDER = "is a folder. Drop the files in it.";

  function line(list, name) {
    const item = document.createElement("li");
    const said = document.createElement("span");
    said.textContent = name;
    item.append(said);
    list.append(item);
    return { item, said, name };
  }

  function problem(row, why) {
    row.item.className = "problem";
    row.said.textContent = `${row.name}: ${why}`;
  }

  function done(row, answer) {
    const [file] = answer.stored;
    row.item.className = "done";
    const link = document.createElement("a");
    link.href = file.url;
    link.textContent = file.title;
    row.said.replaceChildren(link, file.known ? " was there already" : " is up; it is read now");
  }

  // One request; resolves when it is over, however it ended.
  function send(form, file, row) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      const bar = document.createElement("progress");
      bar.setAttribute("aria-label", `Uploading ${file.name}`);
      bar.max = file.size || 1;
      row.item.append(bar);
      request.upload.addEventListener("progress", (event) => { bar.value = event.loaded; });
      request.addEventListener("loadend", () => {
        bar.remove();
        finish(request, row);
        resolve();
      });
      const body = new FormData();
      body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
      body.append("files", file);
      request.open("POST", form.action);
      request.setRequestHeader("Accept", "application/json");
      request.responseType = "json";
      request.send(body);
    });
  }

  function finish(request, row) {
    const answer = request.response;
    if (request.status === 0) problem(row, NO_ANSWER);
    else if (answer?.stored?.length) done(row, answer);
    else if (answer?.problems?.length) problem(row, answer.problems[0].why);
    else if (request.status === 413) problem(row, "is too large for this server.");
    else if (request.status === 404) problem(row, NO_COLLECTION);
    else if (request.status < 400 || request.status === 403) problem(row, SIGNED_OUT);
    else problem(row, "The server failed at this. Try again.");
  }

  async function upload(form, files, folders) {
    const list = form.querySelector("[data-uploads]");
    const most = Number(form.dataset.mostBytes);
    const tooLarge = form.dataset.tooLarge;
    folders.forEach((name) => problem(line(list, name), FOLDER));
    const rows = files.map((file) => ({ file, row: line(list, file.name) }));
    for (const { file, row } of rows) {
      if (file.size > most) problem(row, tooLarge);
      else if (file.size === 0) problem(row, "is empty.");
      else await send(form, file, row);
      document.getElementById("documents")?.dispatchEvent(new CustomEvent("refresh"));
    }
  }

  function folders(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
    return entries.filter((entry) => entry?.isDirectory).map((entry) => entry.name);
  }

  document.querySelectorAll("form[data-upload]").forEach((form) => {
    let atWork = Promise.resolve();
    const start = (files, names = []) => {
      const real = files.filter((file) => !names.includes(file.name));
      atWork = atWork.then(() => upload(form, real, names));
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const input = form.querySelector("input[type=file]");
      start([...input.files]);
      input.value = "";
    });
    const over = (event, on) => {
      event.preventDefault();
      form.classList.toggle("over", on);
    };
    form.addEventListener("dragover", (event) => over(event, true));
    form.addEventListener("dragleave", (event) => over(event, false));
    form.addEventListener("drop", (event) => {
      over(event, false);
      start([...event.dataTransfer.files], folders(event.dataTransfer));
    });
    form.querySelectorAll("[data-script-only]").forEach((hint) => { hint.hidden = false; });
  });
})();
