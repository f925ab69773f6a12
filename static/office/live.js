// Ask for the state of what is on its way, and load the page again when it changes.
// The header keeps such questions from renewing the session of somebody who has left the desk.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const page = document.querySelector("[data-live]");
  if (!page) return;
  let wait = 1000;
  const ask = async () => {
    try {
      const answer = await fetch(page.dataset.live, {
        headers: { "X-Office-Poll": "1" },
        credentials: "same-origin",
        redirect: "error",
      });
      const news = await answer.json();
      if (news.state !== page.dataset.liveState) {
        window.location.reload();
        return;
      }
      if (!news.under_way) return;
    } catch {
      wait = 10000; // signed out, or the office is restarting
    }
    wait = Math.min(wait * 1.25, 10000);
    window.setTimeout(ask, wait);
  };
  window.setTimeout(ask, wait);
});
