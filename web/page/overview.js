// The first view: all queues, one line each. Their names come first; numbers are asked for of the lines in sight only.

import { sendMessage } from "./actions.js";
import { api } from "./api.js";
import { ask } from "./dialog.js";
import { h, show, spark } from "./dom.js";
import { remember, waitingLine } from "./history.js";
import { may, patterns, writable } from "./mode.js";
import { choose, here, queueLink } from "./place.js";
import { age, bytes, count, many, rate } from "./words.js";

const atOnce = 8; // queues in a request, so that the first numbers are soon there
const linesMost = 100; // until more are asked for
const collator = new Intl.Collator("en", { numeric: true });

/** overview draws the frame and returns what reads its numbers. */
export function overview(place) {
  const list = new QueueList(here().choices.get("find") ?? "");
  place.replaceChildren(
    h(
      "div",
      { class: "row" },
      h("h1", {}, "Queues"),
      list.total,
      h("span", { class: "grow" }),
      list.search,
      sendsUnseen() && h("button", { onclick: () => sendMessage(), disabled: !writable() }, "Send a message"),
      may("admin") &&
        h("button", { class: "main", onclick: createQueue, disabled: !writable() }, "Create queue"),
    ),
    list.body,
  );
  return list;
}

// sendsUnseen tells whether the caller may send to queues that this list does not show.
const sendsUnseen = () => may("produce") && patterns("produce").some((pattern) => !may("read", pattern));

class QueueList {
  queues = null;
  stats = new Map(); // by queue, its groups
  shown = linesMost;
  body = h("div");
  total = h("span", { class: "muted" });

  constructor(wanted) {
    this.search = h("input", {
      type: "search",
      id: "search",
      "aria-label": "Find a queue",
      placeholder: "Find a queue ( / )",
      value: wanted,
      oninput: () => {
        choose({ find: this.search.value });
        this.draw();
        this.complete();
      },
    });
    this.scrolled = () => {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.complete(), 150);
    };
    addEventListener("scroll", this.scrolled, { passive: true });
  }

  /** load reads the names, and then the numbers of what is in sight. */
  async load(current) {
    this.queues = (await api.queues()).sort((a, b) => collator.compare(a.queue, b.queue));
    if (!current()) return [];
    const there = new Set(this.queues.map((q) => q.queue));
    for (const name of this.stats.keys()) if (!there.has(name)) this.stats.delete(name);
    this.draw();
    return this.count(this.inSight(), current);
  }

  // complete asks for the numbers of lines that came into sight without any. The page's next look remembers them.
  async complete() {
    if (!this.body.isConnected) {
      removeEventListener("scroll", this.scrolled);
      return;
    }
    if (this.completing) return;
    this.completing = true;
    try {
      remember(await this.count(
        this.inSight().filter((name) => !this.stats.has(name)),
        () => this.body.isConnected,
      ));
    } catch {
      // the next look says what is wrong
    }
    this.completing = false;
  }

  // count reads the numbers of some queues, some at a time.
  async count(names, current) {
    const all = [];
    for (let i = 0; i < names.length && current(); i += atOnce) {
      const some = names.slice(i, i + atOnce);
      const stats = await api.stats(...some);
      for (const name of some) this.stats.set(name, stats.filter((s) => s.queue === name));
      all.push(...stats);
      this.draw();
    }
    return all;
  }

  inSight() {
    return [...this.body.querySelectorAll("tbody tr")]
      .filter((line) => {
        const { top, bottom } = line.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      })
      .map((line) => line.dataset.key);
  }

  draw() {
    if (!this.queues) return;
    const found = this.queues.filter((q) => q.queue.includes(this.search.value));
    show(this.total, this.queues.length > 0 && totals(this.queues, found));
    if (this.queues.length === 0) return show(this.body, nothingYet());
    if (found.length === 0) {
      return show(this.body, h("p", { class: "muted" }, `No queue has “${this.search.value}” in its name.`));
    }
    const lines = found.slice(0, this.shown).map((q) => line(q, this.stats.get(q.queue)));
    show(
      this.body,
      h("div", { class: "scroll" }, h("table", {}, head(), h("tbody", {}, lines))),
      found.length > this.shown &&
        h("p", {}, h("button", { onclick: () => this.more() }, `Show ${linesMost} more`)),
    );
  }

  more() {
    this.shown += linesMost;
    this.draw();
    this.complete();
  }
}

function totals(queues, found) {
  const paused = queues.filter((q) => q.paused).length;
  const some = found.length < queues.length ? `${count(found.length)} of ` : "";
  return `${some}${count(queues.length)}${paused ? `, ${count(paused)} paused` : ""}`;
}

const head = () =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      h("th", { scope: "col" }, "Queue"),
      h("th", { class: "n", scope: "col" }, "Waiting"),
      h("th", { class: "wide", scope: "col" }, "Trend"),
      h("th", { class: "n", scope: "col" }, "Claimed"),
      h("th", { class: "n wide", scope: "col" }, "Delayed"),
      h("th", { class: "n", scope: "col" }, "Dead"),
      h("th", { class: "n wide", scope: "col" }, "In"),
      h("th", { class: "n wide", scope: "col" }, "Out"),
      h("th", { class: "n", scope: "col" }, "Oldest"),
      h("th", { class: "n wide", scope: "col" }, "Storage"),
    ),
  );

// line shows a queue by the group that has most before it; dead letters and deliveries are those of all groups. Without
// groups it is not counted yet.
function line(queue, groups) {
  const name = queue.queue;
  const worst = groups?.reduce((a, b) => (b.waiting > (a?.waiting ?? -1) ? b : a), null);
  const sum = (field) => groups?.reduce((n, s) => n + (s[field] ?? 0), 0);
  const out = groups?.map((s) => s.delivered_rate);
  const n = (text, look = "") => h("td", { class: `n ${look}` }, groups ? text : "·");
  const dead = sum("dead");
  return h(
    "tr",
    { "data-key": name, "aria-busy": !groups },
    h(
      "td",
      { class: "name" },
      h("a", { href: queueLink(name) }, name),
      queue.paused && [" ", h("span", { class: "tag" }, "paused")],
      groups?.length > 1 && h("span", { class: "muted" }, ` ${many(groups.length, "group")}`),
    ),
    n(count(worst?.waiting, worst?.exact !== false)),
    h("td", { class: "wide" }, worst && spark(waitingLine(worst), `Waiting messages of ${name} lately`)),
    n(count(sum("claimed"))),
    n(count(worst?.delayed), "wide"),
    n(count(dead), dead ? "bad" : ""),
    n(rate(worst?.sent_rate), "wide"),
    n(rate(out?.length ? out.reduce((a, b) => a + b, 0) : undefined), "wide"),
    n(age(worst?.oldest_age_s)),
    n(worst ? bytes(worst.bytes) : "–", "wide"),
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
  let name;
  const made = await ask({
    title: "Create a queue",
    action: "Create",
    fields: [
      { name: "name", label: "Name: a-z, 0-9, _, - and .", required: true },
    ],
    work: (typed) => {
      name = typed.name;
      return api.createQueue(name, {});
    },
    told: () => `Queue ${name} is there.`,
  });
  if (made) location.hash = queueLink(name);
}
