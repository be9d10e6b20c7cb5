// The two lists of a queue's page that show messages with what they carry: those that wait, and dead letters.

import { discardAll, discardSome, redriveAll, redriveSome } from "./actions.js";
import { api } from "./api.js";
import { h, show } from "./dom.js";
import { may, writable } from "./mode.js";
import { choose } from "./place.js";
import { empty, guarded, idCell, nameCell, payloadCell, reasonCell, showMessage, table, textOf } from "./table.js";
import { time } from "./words.js";

const page = 100;
const most = 10000;

/** messages shows what waits for a group, without claiming it. */
export function messages(place, queue, group, wanted) {
  const list = h("div");
  let found = [];
  const draw = () => {
    const some = found.filter((m) => searched(m).includes(search.value));
    show(
      list,
      some.length
        ? table(
            ["Id", "Key", "Deliveries", "Sent", "Payload"],
            some.map((m) => messageLine(queue, m)),
          )
        : empty(found.length ? "None of these messages has that." : `Nothing waits for ${group}.`),
    );
  };
  const search = h("input", {
    type: "search",
    "aria-label": "Find in these messages",
    placeholder: "Find in these messages",
    value: wanted,
    oninput: () => {
      choose({ text: search.value });
      draw();
    },
  });
  place.replaceChildren(
    h(
      "div",
      { class: "row" },
      search,
      h("span", { class: "muted" }, `The first ${page} that wait. Looking consumes nothing.`),
    ),
    list,
  );
  return () =>
    guarded(list, async () => {
      found = await api.peek(queue, group, page);
      draw();
    });
}

/** deadLetters shows a group's dead letters, to be sent back or removed, some or all. */
export function deadLetters(place, queue, group) {
  const list = new DeadLetters(queue, group);
  place.replaceChildren(list.buttons, list.body);
  return () => list.load();
}

class DeadLetters {
  buttons = h("div", { class: "row" });
  body = h("div");
  chosen = new Set();
  found = [];
  size = page;

  constructor(queue, group) {
    this.queue = queue;
    this.group = group;
  }

  load() {
    return guarded(this.body, async () => {
      this.found = await api.dead(this.queue, this.group, 0, this.size);
      const there = new Set(this.found.map((m) => m.id));
      for (const id of this.chosen) if (!there.has(id)) this.chosen.delete(id);
      this.draw();
    });
  }

  draw() {
    this.drawButtons();
    if (this.found.length === 0) return show(this.body, empty(`${this.group} has no dead letters.`));
    show(
      this.body,
      table(
        ["", "Id", "Key", "Deliveries", "Died", "Reason", "Payload"],
        this.found.map((m) => this.line(m)),
      ),
      this.found.length === this.size &&
        this.size < most &&
        h("button", { onclick: () => this.more(), class: "more" }, "More"),
    );
  }

  more() {
    this.size = Math.min(most, this.size + page);
    return this.load();
  }

  drawButtons() {
    const { queue, group, chosen, found } = this;
    if (!may("admin", queue)) return;
    const n = chosen.size ? ` (${chosen.size})` : "";
    const button = (text, work, off, look) =>
      h("button", { onclick: work, disabled: off || !writable(), class: look, "data-key": text.split(" (")[0] }, text);
    show(
      this.buttons,
      button(`Redrive chosen${n}`, () => redriveSome(queue, group, [...chosen]), !n),
      button(`Discard chosen${n}`, () => discardSome(queue, group, [...chosen]), !n, "danger"),
      button("Redrive all", () => redriveAll(queue, group), found.length === 0),
      button("Discard all", () => discardAll(queue, group), found.length === 0, "danger"),
    );
  }

  line(m) {
    const { queue, chosen } = this;
    const box = h("input", {
      type: "checkbox",
      "aria-label": `Choose message ${m.id}`,
      checked: chosen.has(m.id),
      onchange: (event) => {
        if (event.currentTarget.checked) chosen.add(m.id);
        else chosen.delete(m.id);
        this.drawButtons();
      },
    });
    return h(
      "tr",
      { "data-key": String(m.id) },
      h("td", {}, box),
      idCell(queue, m.id),
      nameCell(m.key),
      h("td", { class: "n" }, m.attempts),
      h("td", {}, time(m.died_at)),
      reasonCell(m.reason, "", () => showMessage(queue, m)),
      payloadCell(queue, m),
    );
  }
}

const searched = (m) => `${m.id} ${m.key ?? ""} ${textOf(m.payload)} ${textOf(m.headers ?? "")}`;

const messageLine = (queue, m) =>
  h(
    "tr",
    { "data-key": String(m.id) },
    idCell(queue, m.id),
    nameCell(m.key),
    h("td", { class: "n" }, m.attempt),
    h("td", {}, time(m.enqueued_at)),
    payloadCell(queue, m),
  );
