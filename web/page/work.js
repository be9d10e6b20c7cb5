// What a group is at: its claims in flight, what is delayed or tried again, its parked keys. Each list is read anew
// with the numbers above it.

import { api } from "./api.js";
import { age, count, h, show, time } from "./dom.js";
import { cells, empty, guarded, payloadCell, table } from "./table.js";

const most = 100;

// live returns a view of a list: it draws the frame and returns what reads the list anew.
const live = (read, words, columns, line) => (place, queue, group) => {
  const list = h("div");
  show(place, list);
  return () =>
    guarded(list, async () => {
      const found = await read(queue, group, most);
      show(
        list,
        found.length ? table(columns, found.map((x) => h("tr", {}, cells(...line(x))))) : empty(words(group)),
        found.length === most && h("p", { class: "muted" }, `The first ${most}.`),
      );
    });
};

const until = (text) => {
  const seconds = (new Date(text) - Date.now()) / 1000;
  return seconds > 0 ? `in ${age(seconds)}` : "now";
};

const session = (c) =>
  [c.application_name || (c.pid === null ? "not known" : "a session"), c.role_name && `as ${c.role_name}`];

const client = (c) => [c.caller ?? "a client", `at ${c.client}`];

const holder = (c) => (c.client ? client(c) : session(c)).filter(Boolean).join(" ");

const lease = (c) =>
  c.deadline && new Date(c.deadline) > new Date()
    ? until(c.deadline)
    : h("td", { class: "bad" }, "over: the next receive gets them");

/** claims shows who works at what. */
export const claims = live(
  api.claims,
  (group) => `${group} has nothing claimed.`,
  ["Claim", "Held by", "Session", "Since", "Lease ends", "Messages", "First message", "Deliveries"],
  (c) => [c.claim_id, holder(c), c.pid, time(c.claimed_at), lease(c), c.messages, String(c.first_id), c.attempt],
);

/** delayed shows what is not due: what was sent with a delay, and retries. */
export const delayed = live(
  api.delayed,
  (group) => `Nothing of ${group} is delayed or waits to be tried again.`,
  ["Id", "Why", "Due", "Deliveries", "Last error", "Key", "Sent", "Payload"],
  (m) => [
    m.id,
    m.attempts > 0 ? "retry" : "delayed",
    until(m.due_at),
    m.attempts,
    m.reason,
    m.key,
    time(m.enqueued_at),
    payloadCell(m),
  ],
);

const waits = {
  time: (k) => `its time, ${until(k.due_at)}`,
  claim: () => "the consumer that has it",
  consumer: () => "a consumer",
  turn: () => "its turn",
  key_concurrency: () => "others of its key to finish",
};

/** parkedKeys shows the keys whose messages wait in a line of their own, and why. */
export const parkedKeys = live(
  api.parkedKeys,
  (group) => `No key of ${group} is parked.`,
  ["Key", "Messages", "First message", "Deliveries", "Waits for", "Since", "Last error"],
  (k) => [
    k.key ?? (k.lane === null ? "no key" : `no key, lane ${k.lane}`),
    k.messages >= 1000 ? h("td", { class: "n" }, `${count(k.messages)} or more`) : k.messages,
    String(k.first_id),
    k.attempts,
    waits[k.waits_for]?.(k) ?? k.waits_for,
    time(k.parked_at),
    k.reason,
  ],
);
