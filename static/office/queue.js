// Keys for the queue, and going on with many. Nothing here is needed, and no key decides anything.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const unfinished = document.querySelector("form[data-goes-on]");
  if (unfinished) window.setTimeout(() => unfinished.requestSubmit(), 400);

  const queue = document.querySelector("[data-queue]");
  if (!queue) return;
  const rows = [...queue.querySelectorAll("[data-row]")];
  const help = document.getElementById("queue-help");
  const chosen = Math.max(0, rows.findIndex((row) => row.hasAttribute("aria-current")));

  const step = (by) => {
    const focused = rows.indexOf(document.activeElement);
    const from = focused < 0 ? chosen : focused;
    rows[Math.min(rows.length - 1, Math.max(0, from + by))]?.focus();
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    a: () => queue.querySelector('[data-verdict="approve"]')?.focus(),
    r: () => queue.querySelector('.queue-decide [name="reason"]')?.focus(),
    "?": () => {
      help.open = !help.open;
      if (help.open) help.scrollIntoView({ block: "nearest" });
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.querySelector(".queue-help-link")?.addEventListener("click", () => {
    help.open = true;
  });

  // One tick for the whole page, where there is a script to press it.
  const many = document.getElementById("many");
  if (!many) return;
  const all = document.createElement("button");
  all.type = "button";
  all.className = "button button-small button-quiet";
  all.textContent = "Tick this page";
  all.addEventListener("click", () => {
    const boxes = [...many.querySelectorAll('[name="pick"]')];
    const on = boxes.some((box) => !box.checked);
    for (const box of boxes) box.checked = on;
    all.textContent = on ? "Tick none" : "Tick this page";
  });
  many.querySelector(".queue-choose").prepend(all);
});
