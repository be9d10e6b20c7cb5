// The first view: all queues, one line each.

import { api } from "./api.js";
import { age, ask, attempt, bytes, count, h, rate, show, spark } from "./dom.js";
import { speed, waitingLine } from "./history.js";
import { may, writable } from "./mode.js";

let wanted = "";

/** overview draws the frame and returns what redraws its numbers. */
export function overview(place) {
  const search = h("input", {
    type: "search",
    id: "search",
    "aria-label": "Find a queue",
    placeholder: "Find a queue ( / )",
    value: wanted,
    oninput: () => {
      wanted = search.value;
      draw(last);
    },
  });
  const body = h("div");
  let last = null;
  place.replaceChildren(
    h(
      "div",
      { class: "row" },
      h("h1", { class: "grow" }, "Queues"),
      search,
      may("admin") && h("button", { class: "main", onclick: createQueue, disabled: !writable() }, "Create queue"),
    ),
    body,
  );

  function draw(data) {
    last = data;
    if (!data) return;
    if (data.queues.length === 0) return show(body, nothingYet());
    const lines = data.queues
      .filter((q) => q.queue.includes(wanted))
      .sort((a, b) => a.queue.localeCompare(b.queue, "en", { numeric: true }))
      .map((q) => line(q, data.stats));
    show(
      body,
      lines.length
        ? h("div", { class: "scroll" }, h("table", {}, head(), h("tbody", {}, lines)))
        : h("p", { class: "muted" }, `No queue has “${wanted}” in its name.`),
    );
  }

  return {
    async load() {
      const [queues, stats] = await Promise.all([api.queues(), api.stats()]);
      draw({ queues, stats });
      return stats;
    },
  };
}

const head = () =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", {}, "Queue"),
      h("th", { class: "n" }, "Waiting"),
      h("th", { class: "wide" }, "Trend"),
      h("th", { class: "n" }, "Claimed"),
      h("th", { class: "n wide" }, "Delayed"),
      h("th", { class: "n" }, "Dead"),
      h("th", { class: "n wide" }, "In"),
      h("th", { class: "n wide" }, "Out"),
      h("th", { class: "n" }, "Oldest"),
      h("th", { class: "n wide" }, "Storage"),
    ),
  );

// line shows a queue by the group that has most before it; dead letters and deliveries are those of all groups.
function line(queue, stats) {
  const groups = stats.filter((s) => s.queue === queue.queue);
  const worst = groups.reduce((a, b) => (b.waiting > (a?.waiting ?? -1) ? b : a), null);
  const sum = (field) => groups.reduce((n, s) => n + (s[field] ?? 0), 0);
  const out = groups.map((s) => speed(s, "delivered")).filter((v) => v !== undefined);
  const dead = sum("dead");
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      h("a", { href: `#/queues/${encodeURIComponent(queue.queue)}`, "data-key": queue.queue }, queue.queue),
      " ",
      queue.paused && h("span", { class: "tag" }, "paused"),
      groups.length > 1 && h("span", { class: "muted" }, ` ${groups.length} groups`),
    ),
    h("td", { class: "n" }, count(worst?.waiting, worst?.exact !== false)),
    h(
      "td",
      { class: "wide" },
      worst && spark(waitingLine(worst), `Waiting messages of ${queue.queue} lately`),
    ),
    h("td", { class: "n" }, count(sum("claimed"))),
    h("td", { class: "n wide" }, count(worst?.delayed)),
    h("td", { class: dead ? "n bad" : "n" }, count(dead)),
    h("td", { class: "n wide" }, rate(worst ? speed(worst, "sent") : undefined)),
    h("td", { class: "n wide" }, rate(out.length ? out.reduce((a, b) => a + b, 0) : undefined)),
    h("td", { class: "n" }, age(worst?.oldest_age_s)),
    h("td", { class: "n wide" }, worst ? bytes(worst.bytes) : "–"),
  );
}

const nothingYet = () =>
  h(
    "div",
    { class: "card empty" },
    h("h2", {}, "There is no queue yet"),
    may("admin") && h("p", {}, "Create one here, or from a terminal:"),
    may("admin") && h("code", {}, "weir queue create orders"),
  );

async function createQueue() {
  const made = await ask({
    title: "Create a queue",
    action: "Create",
    fields: [
      { name: "name", label: "Name: a-z, 0-9, _, - and .", required: true },
      {
        name: "lanes",
        label: "Lanes: how many consumers can claim at the same moment; 1 is a total order",
        kind: "number",
        value: 16,
        min: 1,
      },
    ],
  });
  if (
    made &&
    (await attempt(`Queue ${made.name} is there.`, () =>
      api.createQueue(made.name, { lanes: Number(made.lanes) }),
    ))
  ) {
    location.hash = `#/queues/${encodeURIComponent(made.name)}`;
  }
}
