// For pages apart from the theme: the theme's own choice of light or dark, one click sends once, printing.
"use strict";

try {
  const chosen = JSON.parse(window.localStorage.getItem("adminTheme") || '""');
  if (chosen === "dark" || chosen === "light") document.documentElement.classList.add(chosen);
} catch {
  // No storage, or something else in it: the system's own choice stands.
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
  window.setTimeout(() => {
    for (const button of form.querySelectorAll("button")) button.disabled = true;
  });
});

window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) button.disabled = false;
  }
});

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  }
  document.querySelector(".form-problem[tabindex]")?.focus();
});
