// The page: which view is shown, and reading the numbers anew every two seconds while somebody looks.

import { api, token } from "./api.js";
import { h } from "./dom.js";
import { remember } from "./history.js";
import { login } from "./login.js";
import { followMode, learn } from "./mode.js";
import { overview } from "./overview.js";
import { queueView } from "./queue.js";

const interval = 2000;
const main = document.getElementById("main");
const trouble = document.getElementById("trouble");
let view;
let timer;

function signOut() {
  view = undefined;
  clearTimeout(timer);
  token.forget();
  login(main, begin);
}

// begin learns what the page may do before it shows anything.
async function begin() {
  try {
    await learn();
  } catch (error) {
    if (error.status === 401) {
      signOut();
      return;
    }
    complain(error);
    setTimeout(begin, interval);
    return;
  }
  greet();
  open();
}

function open() {
  const queue = location.hash.match(/^#\/queues\/([^/]+)$/)?.[1];
  try {
    view = queue ? queueView(main, decodeURIComponent(queue)) : overview(main);
    document.title = queue ? `${decodeURIComponent(queue)} – Weir` : "Weir";
  } catch {
    location.hash = "#/";
    return;
  }
  main.focus({ preventScroll: true });
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  const current = view;
  try {
    const stats = await current.load();
    if (current !== view) return;
    remember(stats);
    trouble.hidden = true;
  } catch (error) {
    if (current !== view) return;
    if (error.status === 401) {
      signOut();
      return;
    }
    if (error.sqlstate === "WR001") {
      main.replaceChildren(
        h("div", { class: "card empty" }, h("h2", {}, error.message), h("a", { href: "#/" }, "All queues")),
      );
      return;
    }
    complain(error);
  }
  if (!document.hidden) timer = setTimeout(refresh, interval);
}

function complain(error) {
  trouble.textContent =
    error.sqlstate || error.status
      ? `${error.message} ${error.hint ?? ""}`
      : "The server does not answer. The numbers below are old; it is asked again every two seconds.";
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

addEventListener("hashchange", () => view && open());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && view) refresh();
});
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search");
  if (event.key === "/" && search && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    search.focus();
  }
});
document.addEventListener("submit", () => setTimeout(() => view && refresh(), 300));
followMode(() => view && open());
theme();
document.getElementById("sign-out").addEventListener("click", signOut);
begin();
