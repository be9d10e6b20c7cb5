// The two lists of a queue's page: messages that wait, and dead letters.

import { api } from "./api.js";
import { ask, attempt, count, h, show, time } from "./dom.js";
import { may, writable } from "./mode.js";
import { empty, guarded, payloadCell, table } from "./table.js";

const page = 100;

/** messages shows what waits for a group, without claiming it. */
export async function messages(place, queue, group) {
  const list = h("div");
  const search = h("input", {
    type: "search",
    "aria-label": "Find in these messages",
    placeholder: "Find in these messages",
  });
  let found = [];
  const draw = () => {
    const some = found.filter((m) => textOf(m).includes(search.value));
    show(
      list,
      some.length
        ? table(
            ["Id", "Key", "Deliveries", "Sent", "Payload"],
            some.map((m) => messageLine(m, m.attempt)),
          )
        : empty(found.length ? "None of these messages has that." : `Nothing waits for ${group}.`),
    );
  };
  const load = async () => {
    found = await api.peek(queue, group, page);
    draw();
  };
  search.addEventListener("input", draw);
  show(
    place,
    h(
      "div",
      { class: "row" },
      search,
      h("button", { onclick: () => guarded(place, load) }, "Look again"),
      h("span", { class: "muted" }, `The first ${page} that wait. Looking consumes nothing.`),
    ),
    list,
  );
  await guarded(list, load);
}

/** deadLetters shows a group's dead letters, to be sent back or removed, some or all. */
export async function deadLetters(place, queue, group) {
  const list = h("div");
  const chosen = new Set();
  let found = [];
  const act = async (verb, which) => {
    const ended = verb === "redrive" ? "sent back" : "removed";
    const done = await attempt(
      (r) => `${count(r.redriven ?? r.discarded)} dead letters ${ended}.`,
      () => api[verb](queue, group, which),
    );
    if (done) await reload();
  };
  const discard = async (which, what) => {
    const sure = await ask({
      title: `Discard ${what}`,
      text: "They are removed for good.",
      action: "Discard",
      danger: true,
      phrase: which.all ? queue : undefined,
    });
    if (sure) await act("discard", which);
  };
  const some = () => ({ ids: [...chosen] });
  const buttons = h("div", { class: "row" });
  const drawButtons = () =>
    may("admin", queue) &&
      show(
        buttons,
        button("Redrive chosen", () => act("redrive", some()), chosen.size === 0),
        button(
          "Discard chosen",
          () => discard(some(), `${chosen.size} dead letters`),
          chosen.size === 0,
          "danger",
        ),
        button("Redrive all", () => act("redrive", { all: true }), found.length === 0),
        button("Discard all", () => discard({ all: true }, "all dead letters"), found.length === 0, "danger"),
      );
  const reload = async () => {
    chosen.clear();
    found = await api.dead(queue, group, 0, page);
    draw();
  };
  const more = async () => {
    const next = await api.dead(queue, group, found[found.length - 1].id, page);
    found = found.concat(next);
    draw();
  };
  const draw = () => {
    drawButtons();
    if (found.length === 0) {
      show(list, empty(`${group} has no dead letters.`));
      return;
    }
    show(
      list,
      table(
        ["", "Id", "Key", "Deliveries", "Died", "Reason", "Payload"],
        found.map((m) => deadLine(m, chosen, drawButtons)),
      ),
      found.length % page === 0 && h("button", { onclick: () => guarded(list, more) }, "More"),
    );
  };
  show(place, buttons, list);
  await guarded(list, reload);
}

const button = (text, work, off, look) =>
  h("button", { onclick: work, disabled: off || !writable(), class: look, "data-key": text }, text);

const textOf = (m) =>
  `${m.id} ${m.key ?? ""} ${JSON.stringify(m.payload)} ${JSON.stringify(m.headers ?? {})}`;

const messageLine = (m, deliveries) =>
  h(
    "tr",
    {},
    h("td", { class: "n" }, String(m.id)),
    h("td", {}, m.key ?? "–"),
    h("td", { class: "n" }, String(deliveries)),
    h("td", {}, time(m.enqueued_at)),
    payloadCell(m),
  );

function deadLine(m, chosen, changed) {
  const box = h("input", {
    type: "checkbox",
    "aria-label": `Choose message ${m.id}`,
    checked: chosen.has(m.id),
    onchange: () => {
      box.checked ? chosen.add(m.id) : chosen.delete(m.id);
      changed();
    },
  });
  return h(
    "tr",
    {},
    h("td", {}, box),
    h("td", { class: "n" }, String(m.id)),
    h("td", {}, m.key ?? "–"),
    h("td", { class: "n" }, String(m.attempts)),
    h("td", {}, time(m.died_at)),
    h("td", {}, m.reason ?? "–"),
    payloadCell(m),
  );
}
