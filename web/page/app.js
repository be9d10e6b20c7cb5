// The page: which view is shown, and reading its numbers anew while somebody looks.

import { api, spentMs } from "./api.js";
import { closeAll } from "./dialog.js";
import { h, show } from "./dom.js";
import { findView } from "./find.js";
import { remember } from "./history.js";
import { login } from "./login.js";
import { messageView } from "./message.js";
import { followMode, learn, may } from "./mode.js";
import { overview } from "./overview.js";
import { failedMs, openingMs, pauseMs } from "./pace.js";
import { here } from "./place.js";
import { queueView } from "./queue.js";
import { senderView } from "./sender.js";
import { token } from "./token.js";
import { age } from "./words.js";

const main = document.getElementById("main");
const trouble = document.getElementById("trouble");
let entered = false; // whether the server lets the page in
let view;
let timer;
let looks = 0; // begun; an older one than the last is of no use any more
let before; // what all answers had taken when the last look began
let looked; // when it ended
let looking = false;
let opening; // whether that was the first of the view

function signOut() {
  entered = false;
  view = undefined;
  looks++;
  clearTimeout(timer);
  token.forget();
  closeAll();
  login(main, begin);
}

// begin learns what the page may do before it shows anything.
async function begin() {
  try {
    await learn();
  } catch (error) {
    if (error.status === 401) {
      token.refuse();
      signOut();
      return;
    }
    complain(error);
    setTimeout(begin, pauseMs(0));
    return;
  }
  entered = true;
  token.share();
  greet();
  open();
}

// viewOf makes the view of an address.
function viewOf(parts) {
  const [, queue, kind, what] = parts;
  if (parts.length === 0) return may("read") ? overview(main) : senderView(main);
  if (parts[0] !== "queues" || !queue) return undefined;
  if (!may("read", queue) && may("produce", queue)) return senderView(main, queue);
  if (kind === undefined) return queueView(main, queue);
  if (kind === "messages" && /^\d+$/.test(what)) return messageView(main, queue, what);
  if (kind === "find" && what) return findView(main, queue, what);
  return undefined;
}

function open() {
  closeAll();
  let parts;
  try {
    ({ parts } = here());
    view = viewOf(parts);
  } catch {
    view = undefined; // the address is none
  }
  if (!view) {
    location.replace("#/");
    return;
  }
  document.title = parts.length ? `${[parts[3], parts[1]].filter(Boolean).join(" – ")} – Weir` : "Weir";
  main.focus({ preventScroll: true });
  opening = true;
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  const look = ++looks;
  const current = () => look === looks;
  before = spentMs();
  looking = true;
  let mostMs = opening ? openingMs : Infinity;
  try {
    const stats = await view.load(current);
    if (!current()) return;
    remember(stats);
    trouble.hidden = true;
  } catch (error) {
    if (!current()) return;
    if (error.status === 401) {
      token.refuse();
      signOut();
      return;
    }
    if (error.sqlstate === "WR001") {
      main.replaceChildren(
        h("div", { class: "card empty" }, h("h2", {}, error.message), h("a", { href: "#/" }, "All queues")),
      );
      view = undefined;
      return;
    }
    complain(error);
    mostMs = Math.min(mostMs, failedMs);
  }
  looking = false;
  looked = Date.now();
  opening = false;
  tell(mostMs);
  wait(mostMs);
}

// wait looks again when that is due: later when more was asked for meanwhile, and not while nobody looks.
function wait(mostMs) {
  clearTimeout(timer);
  const left = () => looked + pauseMs(spentMs() - before, mostMs) - Date.now();
  if (document.hidden || view?.still) return;
  timer = setTimeout(() => (left() > 0 ? wait(mostMs) : refresh()), Math.max(0, left()));
}

// tell says how old the numbers are, where that is not just now.
function tell(mostMs) {
  const pause = pauseMs(spentMs() - before, mostMs) / 1000;
  show(
    document.getElementById("fresh"),
    !view.still && h("span", {}, `as of ${new Date(looked).toLocaleTimeString()}`),
    !view.still && pause > 5 && h("span", { class: "wide" }, `, every ${age(pause)}`),
  );
}

function complain(error) {
  show(
    trouble,
    error.sqlstate || error.status
      ? `${error.message} ${error.hint ?? ""}`
      : "The server does not answer. The numbers below are old; it is asked again and again.",
  );
  trouble.hidden = false;
}

async function greet() {
  try {
    const version = await api.version();
    document.getElementById("health").textContent = `engine ${version.engine}`;
  } catch {
    document.getElementById("health").textContent = "";
  }
}

function theme() {
  const root = document.documentElement;
  const stored = localStorage.getItem("weir-theme");
  if (stored) root.dataset.theme = stored;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("weir-theme", root.dataset.theme);
  });
}

addEventListener("hashchange", () => entered && open());
document.addEventListener("visibilitychange", () => view && !looking && wait());
document.addEventListener("changed", () => view && refresh());
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search");
  if (event.key === "/" && search && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    search.focus();
  }
});
followMode(() => view && open());
theme();
document.getElementById("sign-out").addEventListener("click", () => {
  token.end();
  signOut();
});
document.getElementById("again").addEventListener("click", () => view && refresh());
token.onEnd(signOut);
begin();
