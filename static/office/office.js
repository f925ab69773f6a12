// Small helps for every page of the admin. Nothing here is needed: without it all pages still work.
"use strict";

// --- One click sends once ---------------------------------------------------------------------------
// The pressed button's name and value travel with the POST, so it may only be switched off afterwards.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || !form.matches(".office-form, .act-form")) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "1";
  const pressed = event.submitter;
  window.setTimeout(() => {
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    if (pressed) {
      pressed.dataset.label = pressed.textContent;
      pressed.textContent = "Sending…";
    }
  });
});

// Somebody who comes back with the browser's own button finds the form as it was.
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("button")) {
      button.disabled = false;
      if (button.dataset.label) button.textContent = button.dataset.label;
    }
  }
});

// --- The sidebar stands open from 1280 pixels on, not only above -----------------------------------------

document.addEventListener("alpine:init", () => {
  const original = window.theme;
  if (typeof original !== "function") return;
  window.theme = (...given) => {
    const data = original(...given);
    data.themeBindings["x-resize.window"] = function () {
      this.sidebarOpen = window.innerWidth >= 1280 && localStorage.getItem("sidebarOpen") !== "0";
    };
    return data;
  };
});

// --- What the theme leaves unsaid to a screen reader and a keyboard ------------------------------------

document.addEventListener("DOMContentLoaded", () => {
  const content = document.getElementById("content");
  if (content) {
    content.tabIndex = -1;
    if (!content.querySelector("main")) content.setAttribute("role", "main");
  }
  document.getElementById("nav-sidebar-inner")?.setAttribute("aria-label", "Pages");
  document.querySelector("#nav-sidebar li a.active")?.setAttribute("aria-current", "page");
  document.getElementById("searchbar")?.setAttribute("aria-label", "Search this list");
  document.getElementById("searchbar-submit")?.setAttribute("aria-label", "Search");
  for (const opener of document.querySelectorAll('[x-on\\:click="sidebarToggle()"]')) press(opener, "Show or hide the pages");
  for (const opener of document.querySelectorAll("a.filter-open-button")) press(opener, "Filters");
  for (const opener of document.querySelectorAll('[x-on\\:click*="openUserLinks = !openUserLinks"]')) press(opener, "Your account");
  document.querySelector(".form-problem[tabindex]")?.focus();
});

// Make a clickable thing that is no button reachable and usable by keyboard.
function press(element, label) {
  element.setAttribute("role", "button");
  element.setAttribute("aria-label", label);
  element.tabIndex = 0;
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    element.click();
  });
}
