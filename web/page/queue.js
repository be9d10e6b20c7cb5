// One queue: its groups, its storage, and the lists of what is in it.

import { addGroup, drop, dropGroup, purge, seek, sendMessage } from "./actions.js";
import { api } from "./api.js";
import { attempt } from "./dialog.js";
import { h, show, spark } from "./dom.js";
import { findField } from "./find.js";
import { waitingLine } from "./history.js";
import { schedules, workflows } from "./jobs.js";
import { deadLetters, messages } from "./letters.js";
import { may, writable } from "./mode.js";
import { choose, here } from "./place.js";
import { age, bytes, count, rate, time } from "./words.js";
import { claims, delayed, parkedKeys } from "./work.js";

// lists are the tabs: the name, the name in a link, and what draws it.
const lists = [
  ["Messages", "messages", messages],
  ["Claimed", "claimed", claims],
  ["Delayed, retries", "delayed", delayed],
  ["Parked keys", "parked-keys", parkedKeys],
  ["Dead letters", "dead-letters", deadLetters],
  ["Schedules", "schedules", schedules],
  ["Workflows", "workflows", workflows],
];
const ofTheQueue = ["schedules", "workflows"]; // and of no group

/** queueView draws the frame of one queue and returns what reads its numbers. */
export function queueView(place, queue) {
  const view = new QueueView(queue);
  place.replaceChildren(...view.frame());
  return view;
}

class QueueView {
  state = h("span");
  actions = h("div", { class: "row" });
  facts = h("dl", { class: "facts" });
  groups = h("div", { class: "scroll" });
  storage = h("div");
  letters = h("section", { role: "tabpanel", tabindex: "-1" });
  tabs = h("div", { class: "row", role: "tablist", "aria-label": "Lists", onkeydown: goAlong });
  pick = h("select", { "aria-label": "Group", onchange: () => this.choose({ group: this.pick.value }) });

  constructor(queue) {
    this.queue = queue;
    const { choices } = here();
    this.group = choices.get("group");
    this.tab = lists.some(([, slug]) => slug === choices.get("tab")) ? choices.get("tab") : "messages";
    this.text = choices.get("text") ?? "";
  }

  frame() {
    return [
      h("p", { class: "row" }, h("a", { href: "#/" }, "Queues"), h("span", { class: "grow" }), findField(this.queue)),
      h("div", { class: "row" }, h("h1", {}, this.queue), this.state, h("span", { class: "grow" }), this.actions),
      this.facts,
      h("h2", {}, "Groups"),
      this.groups,
      h("h2", {}, "Storage"),
      this.storage,
      h("div", { class: "row lists" }, this.tabs, h("span", { class: "grow" }), this.pick),
      this.letters,
    ];
  }

  /** load reads the numbers, and then the list under them. */
  async load(current) {
    const [about, list] = await Promise.all([api.queue(this.queue), api.groups(this.queue)]);
    if (!current()) return [];
    this.draw(about, list);
    await this.reload?.();
    return about.groups;
  }

  draw(about, list) {
    const stats = about.groups;
    show(this.state, about.paused && h("span", { class: "tag" }, "paused"));
    show(this.actions, queueActions(about));
    show(this.facts, numbers(stats));
    const lines = stats.map((s) => groupLine(s, list.find((g) => g.group === s.group) ?? {}));
    show(this.groups, h("table", {}, groupHead(), h("tbody", {}, lines)));
    show(this.storage, storageOf(stats[0]));
    const names = stats.map((s) => s.group);
    if (names.join() === this.names && this.reload) return;
    this.names = names.join();
    if (!names.includes(this.group)) this.group = names.includes("default") ? "default" : names[0];
    show(this.pick, names.map((n) => h("option", { value: n }, n)));
    this.pick.value = this.group;
    this.drawList();
  }

  // choose goes to another list or group.
  choose(choices) {
    Object.assign(this, choices);
    this.text = "";
    choose({ tab: this.tab, group: this.group, text: "" });
    this.drawList();
    this.reload?.();
  }

  drawList() {
    show(
      this.tabs,
      lists.map(([name, slug]) =>
        h(
          "button",
          {
            role: "tab",
            "aria-selected": String(slug === this.tab),
            class: slug === this.tab && "main",
            "data-key": name,
            onclick: () => this.choose({ tab: slug }),
          },
          name,
        ),
      ),
    );
    const [name, slug, list] = lists.find(([, s]) => s === this.tab);
    this.letters.setAttribute("aria-label", name);
    this.pick.hidden = ofTheQueue.includes(slug);
    this.reload = this.group === undefined ? undefined : list(this.letters, this.queue, this.group, this.text);
  }
}

// goAlong has the arrow keys move from tab to tab.
function goAlong(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...event.currentTarget.children];
  tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length].focus();
}

function numbers(stats) {
  const sum = (field) => stats.reduce((n, s) => n + (s[field] ?? 0), 0);
  const exact = stats.every((s) => s.exact !== false);
  return [
    ["Waiting, all groups", count(sum("waiting"), exact)],
    ["Claimed", count(sum("claimed"), exact)],
    ["Delayed", count(stats[0]?.delayed)],
    ["Dead", count(sum("dead"))],
    ["Sent", rate(stats[0]?.sent_rate)],
    ["Oldest", age(Math.max(0, ...stats.map((s) => s.oldest_age_s ?? 0)))],
  ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
}

// button has a name of its own for those who cannot see what it stands beside.
const button = (text, of, work, more = {}) =>
  h(
    "button",
    { onclick: work, disabled: !writable(), "aria-label": `${text} ${of}`, "data-key": `${text} ${of}`, ...more },
    text,
  );

// pausing stops and goes on, by one button, which keeps the focus.
function pausing(paused, of, name, queue, group) {
  const key = { "data-key": `pause ${of}` };
  return paused
    ? button("Resume", of, () => attempt(`${name} goes on.`, () => api.resume(queue, group)), key)
    : button(
        "Pause",
        of,
        () =>
          attempt(`${name} is paused${group ? "" : ": nothing is delivered"}.`, () => api.pause(queue, group)),
        key,
      );
}

function queueActions(about) {
  const queue = about.queue;
  const of = `queue ${queue}`;
  return [
    may("produce", queue) &&
      h(
        "button",
        { onclick: () => sendMessage(queue), disabled: !writable(), class: "main", "data-key": "send" },
        "Send a message",
      ),
    may("admin", queue) && [
      pausing(about.paused, of, queue, queue),
      button("Add group", `to ${queue}`, () => addGroup(queue)),
      button("Purge", of, () => purge(queue), { class: "danger" }),
      button("Drop", of, () => drop(queue), { class: "danger" }),
    ],
  ];
}

const groupHead = () =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col" }, "Group"),
      ["Waiting", "Trend", "Claimed", "Delayed", "Parked", "Dead", "Delivered", "Oldest"].map((name) =>
        h("th", { class: name === "Trend" ? "wide" : "n", scope: "col" }, name),
      ),
      h("td", {}),
    ),
  );

function groupLine(s, about) {
  const { queue, group } = s;
  const name = `${queue}, group ${group}`;
  const n = (value, bad) => h("td", { class: bad ? "n bad" : "n" }, value);
  return h(
    "tr",
    { "data-key": group },
    h(
      "td",
      { class: "name" },
      group,
      about.ordered && [" ", h("span", { class: "tag ordered" }, "ordered")],
      about.paused && [" ", h("span", { class: "tag" }, "paused")],
      s.held_by && [" ", h("span", { class: "tag" }, `held by its ${s.held_by} limit`)],
      s.expired > 0 && [" ", h("span", { class: "tag" }, `${count(s.expired)} with expired leases`)],
    ),
    n(count(s.waiting, s.exact !== false)),
    h("td", { class: "wide" }, spark(waitingLine(s), `Waiting messages of ${name} lately`)),
    n(count(s.claimed)),
    n(count(s.delayed)),
    n(count(s.parked), s.parked),
    n(count(s.dead), s.dead),
    n(rate(s.delivered_rate)),
    n(age(s.oldest_age_s)),
    h("td", {}, may("admin", queue) && groupActions(s, about)),
  );
}

function groupActions({ queue, group }, about) {
  const of = `group ${group}`;
  return h(
    "div",
    { class: "acts" },
    pausing(about.paused, of, `${queue}, group ${group}`, queue, group),
    button("Seek", of, () => seek(queue, group)),
    button("Purge", of, () => purge(queue, group), { class: "danger" }),
    button("Drop", of, () => dropGroup(queue, group), { class: "danger" }),
  );
}

function storageOf(s) {
  if (!s) return h("p", { class: "muted" }, "The queue has no group.");
  const session = s.blocker_pid ? ` (process ${s.blocker_pid}, open for ${age(s.blocker_age_s)})` : "";
  return h(
    "p",
    {},
    `In the log ${s.log}, which has ${bytes(s.bytes)} in ${s.segments} segment${s.segments === 1 ? "" : "s"}. `,
    s.blocked_by && h("strong", { class: "bad" }, `Space is kept by ${s.blocked_by}${session}. `),
    s.blocked_by && s.blocker_query && h("code", {}, s.blocker_query),
  );
}
