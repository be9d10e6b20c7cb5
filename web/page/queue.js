// One queue: its groups, its storage, and the lists of what is in it.

import { api } from "./api.js";
import { age, ask, attempt, bytes, count, h, rate, show, spark, time } from "./dom.js";
import { speed, waitingLine } from "./history.js";
import { schedules, workflows } from "./jobs.js";
import { deadLetters, messages } from "./letters.js";
import { may, writable } from "./mode.js";
import { claims, delayed, parkedKeys } from "./work.js";

const lists = [
  ["Messages", messages],
  ["Claimed", claims],
  ["Delayed, retries", delayed],
  ["Parked keys", parkedKeys],
  ["Dead letters", deadLetters],
  ["Schedules", schedules],
  ["Workflows", workflows],
];

/** queueView draws the frame of one queue and returns what redraws its numbers. */
export function queueView(place, queue) {
  const state = h("span");
  const actions = h("div", { class: "row" });
  const facts = h("dl", { class: "facts" });
  const groups = h("div", { class: "scroll" });
  const storage = h("div");
  const letters = h("section", { role: "tabpanel", tabindex: "-1" });
  let group = "default";
  let view = messages;
  let reload; // of a list that is read anew with the numbers
  const tabs = h("div", { class: "row", role: "tablist", "aria-label": "Lists", onkeydown: goAlong });
  const pick = h("select", {
    "aria-label": "Group",
    onchange: () => {
      group = pick.value;
      drawLetters();
    },
  });

  place.replaceChildren(
    h("p", {}, h("a", { href: "#/" }, "Queues")),
    h("div", { class: "row" }, h("h1", {}, queue), state, h("span", { class: "grow" }), actions),
    facts,
    h("h2", {}, "Groups"),
    groups,
    h("h2", {}, "Storage"),
    storage,
    h("div", { class: "row" }, tabs, h("span", { class: "grow" }), pick),
    letters,
  );

  function drawLetters() {
    show(
      tabs,
      lists.map(([name, kind]) =>
        h(
          "button",
          {
            role: "tab",
            "aria-selected": String(kind === view),
            class: kind === view ? "main" : "",
            "data-key": name,
            onclick: () => {
              view = kind;
              drawLetters();
            },
          },
          name,
        ),
      ),
    );
    letters.setAttribute("aria-label", lists.find(([, kind]) => kind === view)[0]);
    pick.hidden = view === schedules || view === workflows; // these are the queue's
    const follows = view(letters, queue, group);
    reload = typeof follows === "function" ? follows : undefined;
    reload?.();
  }

  function draw(about, list, stats) {
    show(state, about.paused ? h("span", { class: "tag" }, "paused") : null);
    show(actions, queueActions(about));
    show(facts, numbers(stats));
    show(
      groups,
      h(
        "table",
        {},
        groupHead(),
        h(
          "tbody",
          {},
          stats.map((s) => groupLine(s, list.find((g) => g.group === s.group) ?? {})),
        ),
      ),
    );
    show(storage, storageOf(stats[0]));
    const names = stats.map((s) => s.group);
    if (names.join() !== [...pick.options].map((o) => o.value).join()) {
      if (!names.includes(group)) group = names[0];
      show(
        pick,
        names.map((n) => h("option", { value: n, selected: n === group }, n)),
      );
      drawLetters();
    }
  }

  return {
    async load() {
      const [about, list, stats] = await Promise.all([api.queue(queue), api.groups(queue), api.stats(queue)]);
      draw(about, list, stats);
      await reload?.();
      return stats;
    },
  };
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
    ["Sent", rate(stats[0] && (speed(stats[0], "sent") ?? stats[0].sent_rate))],
    ["Oldest", age(Math.max(0, ...stats.map((s) => s.oldest_age_s ?? 0)))],
  ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)));
}

const button = (text, work, more = {}) =>
  h("button", { onclick: work, disabled: !writable(), "data-key": text, ...more }, text);

function queueActions(about) {
  const queue = about.queue;
  return [
    may("produce", queue) && button("Send a message", () => sendMessage(queue), { class: "main" }),
    ...(may("admin", queue) ? administer(about) : []),
  ];
}

function administer(about) {
  const queue = about.queue;
  return [
    about.paused
      ? button("Resume", () => attempt(`${queue} goes on.`, () => api.resume(queue)))
      : button("Pause", () => attempt(`${queue} is paused: nothing is delivered.`, () => api.pause(queue))),
    button("Add group", () => addGroup(queue)),
    button("Purge", () => purge(queue), { class: "danger" }),
    button("Drop", () => drop(queue), { class: "danger" }),
  ];
}

const groupHead = () =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", {}, "Group"),
      h("th", { class: "n" }, "Waiting"),
      h("th", { class: "wide" }, "Trend"),
      h("th", { class: "n" }, "Claimed"),
      h("th", { class: "n" }, "Delayed"),
      h("th", { class: "n" }, "Parked"),
      h("th", { class: "n" }, "Dead"),
      h("th", { class: "n" }, "Delivered"),
      h("th", { class: "n" }, "Oldest"),
      h("th", {}, ""),
    ),
  );

function groupLine(s, about) {
  const { queue, group } = s;
  const name = `${queue}, group ${group}`;
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      group,
      " ",
      about.ordered && h("span", { class: "tag ordered" }, "ordered"),
      " ",
      about.paused && h("span", { class: "tag" }, "paused"),
    ),
    h("td", { class: "n" }, count(s.waiting, s.exact !== false)),
    h("td", { class: "wide" }, spark(waitingLine(s), `Waiting messages of ${name} lately`)),
    h("td", { class: "n" }, count(s.claimed)),
    h("td", { class: "n" }, count(s.delayed)),
    h("td", { class: s.parked ? "n bad" : "n" }, count(s.parked)),
    h("td", { class: s.dead ? "n bad" : "n" }, count(s.dead)),
    h("td", { class: "n" }, rate(speed(s, "delivered") ?? s.delivered_rate)),
    h("td", { class: "n" }, age(s.oldest_age_s)),
    h("td", {}, may("admin", queue) && groupActions(s, about)),
  );
}

function groupActions({ queue, group }, about) {
  const name = `${queue}, group ${group}`;
  return [
    about.paused
      ? button("Resume", () => attempt(`${name} goes on.`, () => api.resume(queue, group)), {
          "data-key": `resume ${group}`,
        })
      : button("Pause", () => attempt(`${name} is paused.`, () => api.pause(queue, group)), {
          "data-key": `pause ${group}`,
        }),
    " ",
    button("Seek", () => seek(queue, group), { "data-key": `seek ${group}` }),
    " ",
    button("Purge", () => purge(queue, group), { class: "danger", "data-key": `purge ${group}` }),
    " ",
    button("Drop", () => dropGroup(queue, group), { class: "danger", "data-key": `drop ${group}` }),
  ];
}

function storageOf(s) {
  if (!s) return h("p", { class: "muted" }, "The queue has no group.");
  const session = s.blocker_pid ? ` (process ${s.blocker_pid}, open for ${age(s.blocker_age_s)})` : "";
  return h(
    "p",
    {},
    `${bytes(s.bytes)} in ${s.segments} segment${s.segments === 1 ? "" : "s"} of the log, ` +
      `${s.lanes} lane${s.lanes === 1 ? "" : "s"}. `,
    s.rotated_at ? `Last rotation ${time(s.rotated_at)}. ` : "Not rotated yet. ",
    s.blocked_by && h("strong", { class: "bad" }, `Space is kept by ${s.blocked_by}${session}. `),
    s.blocked_by && s.blocker_query && h("code", {}, s.blocker_query),
  );
}

async function sendMessage(queue) {
  const message = await ask({
    title: `Send a message to ${queue}`,
    action: "Send",
    fields: [
      { name: "payload", label: "Payload, JSON", kind: "area", value: '{"hello": "world"}' },
      { name: "key", label: "Key, or nothing" },
      { name: "delay", label: "Delay in seconds", kind: "number", value: 0, min: 0 },
    ],
  });
  if (!message) return;
  await attempt(
    (r) => `Sent: message ${r.ids[0]}.`,
    () =>
      api.send(queue, {
        payload: JSON.parse(message.payload),
        ...(message.key && { key: message.key }),
        ...(Number(message.delay) > 0 && { delay_ms: Math.round(1000 * Number(message.delay)) }),
      }),
  );
}

async function addGroup(queue) {
  const made = await ask({
    title: `Add a group to ${queue}`,
    text: "A group is delivered every message of the queue.",
    action: "Add",
    fields: [
      { name: "name", label: "Name", required: true },
      {
        name: "ordered",
        label: "One key's messages one after the other",
        kind: "select",
        options: ["no", "yes"],
        value: "no",
      },
      { name: "start", label: "Begin with", kind: "select", options: ["start", "end"], value: "start" },
    ],
  });
  if (made) {
    await attempt(`Group ${made.name} is there.`, () =>
      api.createGroup(queue, made.name, { ordered: made.ordered === "yes", start: made.start }),
    );
  }
}

async function seek(queue, group) {
  const to = await ask({
    title: `Move ${group} of ${queue}`,
    action: "Seek",
    danger: true,
    text: "Back: it is delivered again what is kept. Forward: what waits is passed over.",
    fields: [
      {
        name: "position",
        label: "start, end, a time such as 2030-01-31 12:00+00, or a message's id",
        value: "end",
      },
    ],
  });
  if (to) await attempt(`${group} goes on at ${to.position}.`, () => api.seek(queue, group, to.position));
}

async function purge(queue, group) {
  const sure = await ask({
    title: group ? `Purge group ${group} of ${queue}` : `Purge ${queue}`,
    phrase: queue,
    action: "Purge",
    danger: true,
    text: `${group ? "The group" : "Every group"} drops what it has not finished. This cannot be undone.`,
  });
  if (sure)
    await attempt(
      (r) => `${count(r.purged)} messages dropped.`,
      () => api.purge(queue, group),
    );
}

async function drop(queue) {
  const sure = await ask({
    title: `Drop ${queue}`,
    text: "The queue goes with all its messages, groups and rights. This cannot be undone.",
    phrase: queue,
    action: "Drop",
    danger: true,
  });
  if (sure && (await attempt(`${queue} is gone.`, () => api.dropQueue(queue)))) location.hash = "#/";
}

async function dropGroup(queue, group) {
  const sure = await ask({
    title: `Drop group ${group} of ${queue}`,
    text: "Its claims and dead letters go with it; other groups do not notice.",
    phrase: group,
    action: "Drop",
    danger: true,
  });
  if (sure) await attempt(`Group ${group} is gone.`, () => api.dropGroup(queue, group));
}
