// Shows a card for a short time. The values live in this closure and in text nodes of a closed shadow tree,
// and nowhere else: no storage, no input, no address, no markup made of text.
"use strict";

(() => {
  const form = document.getElementById("reveal-form");
  if (!form) return;
  const part = (id) => document.getElementById(id);
  const ask = part("ask"), shown = part("shown"), said = part("said"), problem = part("problem");
  const base = window.location.pathname;
  const SIGNED_OUT = "You are signed out, or this page was open too long. Load it again. Nothing is shown.";
  const UNHEARD = "The office did not answer. Look at the connection, then try again.";

  // --- The card: what is drawn can be taken away at once ---------------------------------------------

  const face = (() => {
    const host = part("face");
    const root = host.attachShadow({ mode: "closed" });
    const make = (tag, name, text) => {
      const made = document.createElement(tag);
      if (name) made.className = name;
      if (text) made.textContent = text;
      return made;
    };
    const sheet = make("link");
    sheet.rel = "stylesheet";
    sheet.href = host.dataset.styles;
    const card = make("div", "face"), mark = make("div", "mark"), list = make("dl");
    const away = make("p", "away", "Hidden while you are away.");
    mark.setAttribute("aria-hidden", "true");
    card.append(mark, list, away);
    root.append(sheet, card);
    const rows = {};
    const row = (name, label) => {
      const line = make("div", `row ${name}`), value = make("span"), cell = make("dd");
      cell.append(value);
      if ("mayCopy" in host.dataset && name !== "holder") {
        const button = make("button", "", "Copy");
        button.type = "button";
        button.setAttribute("aria-label", `Copy ${label.toLowerCase()}`);
        button.addEventListener("click", () => copy(name));
        cell.append(button);
      }
      line.append(make("dt", "", label), cell);
      list.append(line);
      rows[name] = { line, value };
    };
    row("number", "Card number");
    row("expiry", "Expires");
    row("cvv", "Security code");
    row("holder", "Cardholder");
    const clear = () => {
      for (const { line, value } of Object.values(rows)) {
        value.textContent = "";
        line.hidden = true;
      }
      mark.textContent = "";
    };
    const draw = (values, at) => {
      clear();
      const texts = { ...values, number: grouped(values.number), holder: host.dataset.holder };
      for (const [name, { line, value }] of Object.entries(rows)) {
        value.textContent = texts[name] || "";
        line.hidden = !texts[name];
      }
      for (let count = 0; count < 40; count += 1) mark.append(make("span", "", `${host.dataset.viewer} · ${at}`));
      away.hidden = true;
    };
    return { draw, clear, leave: () => { clear(); away.hidden = false; } };
  })();

  function grouped(number) {
    const groups = number.length === 15 ? /^(.{4})(.{6})(.{5})$/ : /(.{4})(?=.)/g;
    return number.length === 15 ? number.replace(groups, "$1 $2 $3") : number.replace(groups, "$1 ");
  }

  // --- The look: one at a time -----------------------------------------------------------------------

  let look = null;
  let busy = false;

  function begin(told, sentAt) {
    const expiry = `${String(told.exp_month).padStart(2, "0")}/${String(told.exp_year % 100).padStart(2, "0")}`;
    look = {
      values: { number: told.pan, expiry, cvv: told.has_cvv ? "" : "not sent by Endl" },
      token: told.token, at: told.at,
      // Two clocks: one does not run while a computer sleeps, the other can be set.
      until: sentAt.tick + told.seconds * 1000, wallUntil: sentAt.wall + told.seconds * 1000,
      spoke: false, timer: window.setInterval(tick, 200),
    };
    part("left").textContent = told.left;
    part("show-cvv").hidden = !told.has_cvv;
    part("longer").hidden = false;
    ask.hidden = true;
    shown.hidden = false;
    draw();
    tick();
    say(`Card details are shown for ${told.seconds} seconds.`);
    part("shown-title").focus();
  }

  function draw() {
    if (document.hidden) face.leave();
    else face.draw(look.values, look.at);
  }

  const secondsLeft = () =>
    Math.max(0, Math.ceil(Math.min(look.until - performance.now(), look.wallUntil - Date.now()) / 1000));

  function tick() {
    if (!look) return;
    const left = secondsLeft();
    if (left === 0) return wipe("time");
    part("seconds").textContent = left;
    // Said once, not every second: a screen reader would never come to the number.
    if (left <= 10 && !look.spoke) {
      look.spoke = true;
      say(`${left} seconds left.`);
    }
  }

  function wipe(ending) {
    if (!look) return;
    const { token, timer } = look;
    window.clearInterval(timer);
    look = null;
    face.clear();
    part("seconds").textContent = "";
    shown.hidden = true;
    ask.hidden = false;
    post("ended/", { token, ending }).catch(() => {});
    say(ending === "time" ? "Time is up: the card details are hidden." : "The card details are hidden.");
    form.elements.kind.focus();
  }

  // --- What the office is told and asked -------------------------------------------------------------

  async function post(door, fields) {
    const body = fields instanceof FormData ? fields : new FormData();
    if (body !== fields) for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    const answer = await fetch(base + door, {
      method: "POST", body, headers: { "X-Office-Reveal": "1" }, credentials: "same-origin", cache: "no-store",
      redirect: "manual", keepalive: true,
    });
    const isOurs = (answer.headers.get("Content-Type") || "").startsWith("application/json");
    if (!isOurs) return { ok: false, told: { message: answer.status >= 500 ? UNHEARD : SIGNED_OUT } };
    return { ok: answer.ok, told: await answer.json() };
  }

  // Runs one request at a time; a second click while it runs does nothing.
  async function once(deed) {
    if (busy) return;
    busy = true;
    try {
      await deed();
    } catch {
      complain(UNHEARD);
    } finally {
      busy = false;
    }
  }

  // Something more within the look; what comes back when it is over is dropped.
  async function more(door, fields, use) {
    const asking = look;
    if (!asking) return;
    const { ok, told } = await post(door, { token: asking.token, ...fields });
    if (look !== asking) return;
    if (ok) await use(told);
    else say(told.message);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    once(async () => {
      forget();
      const sentAt = { tick: performance.now(), wall: Date.now() };
      const { ok, told } = await post("", new FormData(form));
      if (ok) {
        form.reset();
        begin(told, sentAt);
      } else if (told.errors) {
        mark(told.errors);
      } else {
        complain(told.message);
      }
    });
  });

  part("show-cvv").addEventListener("click", () => once(() => more("cvv/", {}, (told) => {
    look.values.cvv = told.cvv;
    part("show-cvv").hidden = true;
    draw();
    say("The security code is shown, once in this look.");
    part("hide").focus();
  })));

  part("longer").addEventListener("click", () => once(() => more("longer/", {}, (told) => {
    look.until += told.seconds * 1000;
    look.wallUntil += told.seconds * 1000;
    look.spoke = false;
    part("longer").hidden = true;
    tick();
    say(`${told.seconds} seconds more.`);
    part("hide").focus();
  })));

  part("hide").addEventListener("click", () => wipe("person"));

  // --- Copying: only where the person may, on record first -------------------------------------------

  function copy(field) {
    once(() => more("copied/", { field }, async () => {
      await navigator.clipboard.writeText(look.values[field]);
      say("Copied. The clipboard is cleared in 30 seconds where the browser allows; programs that keep its history may not forget.");
      window.setTimeout(clearClipboard, 30_000);
    }));
  }

  function clearClipboard() {
    navigator.clipboard.writeText("").catch(() => {
      // Browsers let only the tab in front write: then, when the person comes back to it.
      window.addEventListener("focus", clearClipboard, { once: true });
    });
  }

  // --- Leaving and coming back -----------------------------------------------------------------------

  document.addEventListener("visibilitychange", () => {
    if (!look) return;
    tick();
    if (look) draw();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") wipe("person");
  });
  window.addEventListener("pagehide", () => wipe("left"));
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });

  // --- Words -----------------------------------------------------------------------------------------

  function say(words) {
    said.textContent = words;
  }

  function complain(words) {
    problem.textContent = words;
    problem.hidden = false;
    problem.focus();
  }

  function forget() {
    problem.hidden = true;
    say("");
    mark({});
  }

  function mark(errors) {
    let first = null;
    for (const name of ["kind", "reason", "factor"]) {
      const field = form.elements[name], words = (errors[name] || []).join(" ");
      part(`${name}-error`).textContent = words;
      field.toggleAttribute("aria-invalid", Boolean(words));
      if (words) field.setAttribute("aria-invalid", "true");
      field.closest(".form-field").classList.toggle("has-error", Boolean(words));
      if (words && !first) first = field;
    }
    if (errors.factor) form.elements.factor.value = "";
    if (first) first.focus();
  }

  face.clear();
  part("needs-script").hidden = true;
  ask.hidden = false;
})();
