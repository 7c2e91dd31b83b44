"use strict";
// What makes the pages more comfortable; all of them work without it.

const form = document.querySelector("form.drop");
if (form) {
  const input = form.querySelector("input[type=file]"), say = form.querySelector(".sending");
  const send = () => {
    const [file] = input.files, most = Number(form.dataset.most);
    if (!file) return;
    if (file.size > most) {
      say.textContent = `The file has more than ${Math.round(most / 2 ** 20)} MB. Compress it, or give counts per batch and arm.`;
      input.value = "";
      return;
    }
    say.textContent = `Reading ${file.name} …`;
    form.submit();
  };
  input.addEventListener("change", send);
  for (const kind of ["dragenter", "dragover"])
    addEventListener(kind, (event) => { event.preventDefault(); form.classList.add("over"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) form.classList.remove("over"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (event.dataTransfer.files.length !== 1) return;
    input.files = event.dataTransfer.files;
    send();
  });
}

const waiting = document.querySelector("[data-progress]");
if (waiting) {
  const bar = waiting.querySelector("progress");
  const show = (id, text) => {
    const place = document.getElementById(id);
    if (place.textContent !== text) place.textContent = text;
  };
  const look = async () => {
    try {
      const answer = await fetch(waiting.dataset.progress);
      if (!answer.ok) return location.reload();
      const job = await answer.json();
      if (job.finished) return location.reload();
      show("stage", job.stage || "Waiting for its turn");
      show("count", job.total ? `${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")} runs` : "");
      for (const step of waiting.querySelectorAll("li")) {
        const now = step.textContent === job.stage;
        if (now !== step.hasAttribute("aria-current")) step.toggleAttribute("aria-current");
      }
      if (job.total) { bar.max = job.total; bar.value = job.done; } else bar.removeAttribute("value");
    } catch {
      show("stage", "debandit does not answer. Has it ended?");
    }
    setTimeout(look, 300);
  };
  setTimeout(look, 300);
}

for (const code of document.querySelectorAll("main pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "second copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  });
  code.parentElement.before(button);
}
