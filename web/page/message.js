// One message: what each group did with it, where it is now, and why.

import { discardSome, redriveSome } from "./actions.js";
import { api } from "./api.js";
import { h, show } from "./dom.js";
import { findField } from "./find.js";
import { may, writable } from "./mode.js";
import { findLink, messageLink, queueLink } from "./place.js";
import { documents, reasonCell, table } from "./table.js";
import { count, many, time, until } from "./words.js";
import { holder } from "./work.js";

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

// placeOf tells where a message is for a group, and why it is there.
async function placeOf(queue, m, s, groups) {
  const state = m.states[s.group] ?? "not for it";
  const known = m.details[s.group] ?? {};
  const about = groups.find((g) => g.group === s.group) ?? {};
  const why = await (states[state] ?? unknown)(known, { queue, s, about });
  return { group: s.group, state, why, attempts: known.attempts, reason: known.reason };
}

const unknown = () => "It was sent before the group began, or is for another group.";

const states = {
  waiting(known, { s, about }) {
    const rest = `${many(s.waiting, "message", s.exact !== false)} of the group wait${s.waiting === 1 ? "s" : ""}.`;
    if (about.paused) return `The group is paused. ${rest}`;
    if (s.held_by) return `The group's ${s.held_by} limit holds it back. ${rest}`;
    if (s.claimed === 0 && s.delivered_rate === 0) {
      return `Nobody receives: nothing was delivered to the group lately. ${rest}`;
    }
    if (known.claim_id) return `A lease on it is over: the next receive gets it. ${rest}`;
    return `It waits for a consumer to receive it. ${rest}`;
  },

  async claimed(known, { queue, s }) {
    const [claim] = await api.claims(queue, s.group, 1, BigInt(known.claim_id) - 1n);
    const who = claim && String(claim.claim_id) === String(known.claim_id) ? holder(claim) : "A consumer";
    return `${who} has it since ${time(known.since)}; its lease ends ${until(known.until)}.`;
  },

  delayed: (known) =>
    `${known.attempts ? "It is tried again" : "Its sender delayed it: it is due"} ${until(known.until)}.`,

  parked(known, { queue }) {
    if (known.behind) {
      const first = h("a", { href: messageLink(queue, known.behind) }, known.behind);
      return ["It stands behind message ", first, " of its key."];
    }
    if (known.claim_id) return "It is the first of its key, and a consumer has it.";
    if (known.until) return `It is the first of its key, and is due ${until(known.until)}.`;
    return "It waits in a line with other messages of its key, or for its key's turn.";
  },

  dead: (known) => `It died ${time(known.since)}; nothing happens to it until it is redriven or discarded.`,

  done: () => "It was finished, or passed over by a seek, a purge or its time to live.",
};
