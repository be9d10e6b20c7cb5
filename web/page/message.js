// One message: what each group did with it, where it is now, and why.

import { discardSome, redriveSome } from "./actions.js";
import { api } from "./api.js";
import { h, show } from "./dom.js";
import { findField } from "./find.js";
import { may, writable } from "./mode.js";
import { findLink, queueLink } from "./place.js";
import { documents, reasonCell, table } from "./table.js";
import { count, many, time, until } from "./words.js";
import { holder, waitsFor } from "./work.js";

const most = 1000; // of a list, in which a message is looked for

/** messageView draws the frame of one message and returns what reads it. */
export function messageView(place, queue, id) {
  const body = h("div");
  place.replaceChildren(
    h(
      "p",
      { class: "row" },
      h("a", { href: "#/" }, "Queues"),
      h("a", { href: queueLink(queue) }, queue),
      h("span", { class: "grow" }),
      findField(queue, id),
    ),
    h("h1", {}, `Message ${id}`),
    body,
  );
  return {
    async load(current) {
      const about = await api.queue(queue);
      const [groups, m] = await Promise.all([api.groups(queue), api.message(queue, id).catch(orNone)]);
      const places = m && (await Promise.all(about.groups.map((s) => placeOf(queue, m, s, groups))));
      if (current()) show(body, m ? drawn(queue, m, places) : none(queue, id));
      return about.groups;
    },
  };
}

// orNone is no message where the queue does not hold it.
function orNone(error) {
  if (error.sqlstate === "WR018") return null;
  throw error;
}

const byKey = (queue, text) =>
  h("p", {}, h("a", { href: findLink(queue, text) }, `Look for messages with the key ${text}`));

const none = (queue, id) =>
  h(
    "div",
    { class: "card empty" },
    h("h2", {}, `${queue} does not hold message ${id}`),
    h(
      "p",
      {},
      "All groups have finished it and its space was given back, or it was never sent.",
    ),
    byKey(queue, id),
  );

const drawn = (queue, m, places) => [
  h(
    "dl",
    { class: "plain" },
    [
      ["Key", m.key ?? "none"],
      ["Sent", time(m.enqueued_at)],
    ].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  ),
  h("h2", {}, "Groups"),
  table(
    ["Group", "State", "Where it is, and why", "Deliveries", "Reason", ""],
    places.map((p) => placeLine(queue, m, p)),
  ),
  documents(m),
  byKey(queue, m.key ?? String(m.id)),
];

// tabs are the lists of a queue that show the messages of a state.
const tabs = {
  waiting: "messages",
  claimed: "claimed",
  delayed: "delayed",
  parked: "parked-keys",
  dead: "dead-letters",
};

function placeLine(queue, m, { group, state, why, attempts, reason }) {
  const look = { dead: "tag dead", done: "tag done" }[state] ?? "tag ordered";
  return h(
    "tr",
    { "data-key": group },
    h("td", { class: "name" }, h("a", { href: queueLink(queue, { tab: tabs[state], group }) }, group)),
    h("td", {}, h("span", { class: look }, state)),
    h("td", { class: "why" }, why),
    h("td", { class: "n" }, attempts === undefined ? "–" : count(attempts)),
    reasonCell(reason, `Message ${m.id}, group ${group}`),
    h("td", {}, state === "dead" && may("admin", queue) && deadActions(queue, group, m.id)),
  );
}

const deadActions = (queue, group, id) =>
  h(
    "div",
    { class: "acts" },
    [
      ["Redrive", redriveSome],
      ["Discard", discardSome, "danger"],
    ].map(([text, work, look]) =>
      h(
        "button",
        {
          onclick: () => work(queue, group, [id]),
          disabled: !writable(),
          class: look,
          "aria-label": `${text} in group ${group}`,
        },
        text,
      ),
    ),
  );

// placeOf finds out where a message is for a group, and why it is there.
async function placeOf(queue, m, s, groups) {
  const state = m.states[s.group] ?? "not for it";
  const about = groups.find((g) => g.group === s.group) ?? {};
  return { group: s.group, state, ...(await (states[state] ?? unknown)(queue, m, s, about)) };
}

const unknown = () => ({ why: "It was sent before the group began, or is for another group." });

const states = {
  waiting(queue, m, s, about) {
    const rest = `${many(s.waiting, "message", s.exact !== false)} of the group wait${s.waiting === 1 ? "s" : ""}.`;
    if (about.paused) return { why: `The group is paused. ${rest}` };
    if (s.held_by) return { why: `The group's ${s.held_by} limit holds it back. ${rest}` };
    if (s.claimed === 0 && s.delivered_rate === 0) {
      return { why: `Nobody receives: nothing was delivered to the group lately. ${rest}` };
    }
    return { why: `It waits for a consumer to receive it. ${rest}` };
  },

  async claimed(queue, m, s) {
    const list = await api.claims(queue, s.group, most);
    const found = list.find((c) => c.first_id === m.id) ?? (list.length === 1 ? list[0] : undefined);
    if (!found) return { why: `One of ${many(list.length, "claim")} of the group has it.` };
    const over = !found.deadline || new Date(found.deadline) <= new Date();
    return {
      why: over
        ? `${holder(found)} had it, and its lease is over: the next receive gets it.`
        : `${holder(found)} has it since ${time(found.claimed_at)}; its lease ends ${until(found.deadline)}.`,
      attempts: found.first_id === m.id ? found.attempt : undefined,
    };
  },

  async delayed(queue, m, s) {
    const list = await api.delayed(queue, s.group, most);
    const found = list.find((d) => d.id === m.id);
    if (!found && list.length < most) return { why: "It is due: a receive gets it." };
    if (!found) return { why: `It is due, or not among the next ${count(most)} that are.` };
    const what = found.attempts > 0 ? "It is tried again" : "Its sender delayed it: it is due";
    return { why: `${what} ${until(found.due_at)}.`, attempts: found.attempts, reason: found.reason };
  },

  async parked(queue, m, s) {
    const found = (await api.parkedKeys(queue, s.group, most)).find((k) => k.key === m.key);
    if (!found) return { why: "It waits in a line with other messages of its key." };
    const first = found.first_id === m.id;
    return {
      why: first
        ? `It is the first of its key's line, which waits for ${waitsFor(found)}.`
        : `It stands behind message ${found.first_id} of its key, which waits for ${waitsFor(found)}.`,
      attempts: first ? found.attempts : undefined,
      reason: found.reason,
    };
  },

  async dead(queue, m, s) {
    const [found] = (await api.dead(queue, s.group, BigInt(m.id) - 1n, 1)).filter((d) => d.id === m.id);
    if (!found) return { why: "It is a dead letter." };
    return {
      why: `It died ${time(found.died_at)}; nothing happens to it until it is redriven or discarded.`,
      attempts: found.attempts,
      reason: found.reason,
    };
  },

  done: () => ({ why: "It was finished, or passed over by a seek, a purge or its time to live." }),
};
