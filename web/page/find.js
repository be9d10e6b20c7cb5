// Finding a message by its id or its key, whatever its state.

import { api } from "./api.js";
import { h, show } from "./dom.js";
import { findLink, messageLink, queueLink } from "./place.js";
import { cells, empty, idCell, nameCell, payloadCell, table } from "./table.js";
import { count, many, time } from "./words.js";

const most = 1000; // of a list of a group, in which a key is looked for
const step = 200; // messages that are looked at one by one, the newest first: their ids fit an address

/** findField is the field that finds a message of a queue: an id leads to the message, else it is a key. */
export function findField(queue, value) {
  const field = h("input", {
    type: "search",
    id: "search",
    "aria-label": "Find a message by id or key",
    placeholder: "Find a message: id or key ( / )",
    value,
  });
  const go = (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (text) location.hash = /^\d{1,18}$/.test(text) ? messageLink(queue, text) : findLink(queue, text);
  };
  return h("form", { role: "search", onsubmit: go }, field, " ", h("button", {}, "Find"));
}

/** findView looks for the messages of a key. It does so once: that costs more than to read numbers. */
export function findView(place, queue, key) {
  const search = new Search(queue, key);
  place.replaceChildren(
    h(
      "p",
      { class: "row" },
      h("a", { href: "#/" }, "Queues"),
      h("a", { href: queueLink(queue) }, queue),
      h("span", { class: "grow" }),
      findField(queue, key),
    ),
    h("h1", {}, `Key ${key}`),
    search.body,
  );
  return search;
}

class Search {
  still = true;
  body = h("div");
  found = new Map(); // messages by id
  lines = []; // of parked messages: how many, of which group, and which comes first

  constructor(queue, key) {
    this.queue = queue;
    this.key = key;
  }

  async load() {
    this.note("Looking …");
    const groups = await api.stats(this.queue);
    const inLists = await Promise.all(groups.map((s) => this.idsIn(s.group)));
    await this.keep([...new Set(inLists.flat())]);
    this.draw();
    return groups;
  }

  // idsIn looks through what a group has before it, and returns the ids of what has the key.
  async idsIn(group) {
    const { queue, key } = this;
    const [waiting, delayed, dead, parked] = await Promise.all([
      api.peek(queue, group, most),
      api.delayed(queue, group, most),
      api.dead(queue, group, 0, most),
      api.parkedKeys(queue, group, most),
    ]);
    const line = parked.find((k) => k.key === key);
    if (line) this.lines.push({ group, ...line });
    return [...waiting, ...delayed, ...dead]
      .filter((m) => m.key === key)
      .map((m) => m.id)
      .concat(line ? [line.first_id] : []);
  }

  // keep asks how every group stands to some messages, and keeps those that have the key.
  async keep(ids) {
    for (let i = 0; i < ids.length; i += step) {
      for (const m of await api.messages(this.queue, ids.slice(i, i + step))) {
        if (m.key === this.key) this.found.set(m.id, m);
      }
    }
  }

  note(words) {
    show(this.body, empty(words));
  }

  draw() {
    const list = [...this.found.values()].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    show(
      this.body,
      list.length
        ? table(
            ["Id", "Sent", "Groups", "Payload"],
            list.map((m) => this.line(m)),
          )
        : empty(`No message with the key ${this.key} was found.`),
      this.lines.map((l) =>
        h("p", {}, `${many(l.messages, "message")} of it ${l.messages === 1 ? "is" : "are"} parked in ${l.group}.`),
      ),
      h(
        "p",
        { class: "muted" },
        `Looked through the first ${count(most)} messages of each list of each group.`,
      ),
    );
  }

  line(m) {
    return h(
      "tr",
      { "data-key": String(m.id) },
      cells(
        idCell(this.queue, m.id),
        time(m.enqueued_at),
        nameCell(
          Object.entries(m.states)
            .map(([group, state]) => `${group}: ${state}`)
            .join(", ") || "of no group",
        ),
        payloadCell(this.queue, m),
      ),
    );
  }
}
