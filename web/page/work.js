// What a group is at: its claims in flight, what is delayed or tried again, its parked keys.

import { api } from "./api.js";
import { h, show } from "./dom.js";
import { cells, empty, guarded, idCell, nameCell, payloadCell, reasonCell, showMessage, table } from "./table.js";
import { count, time, until } from "./words.js";

const most = 100;

// live returns a view of a list: it draws the frame and returns what reads the list anew.
const live = (read, words, columns, line) => (place, queue, group) => {
  const list = h("div");
  place.replaceChildren(list);
  return () =>
    guarded(list, async () => {
      const found = await read(queue, group, most);
      show(
        list,
        found.length ? table(columns, found.map((x) => line(queue, x))) : empty(words(group)),
        found.length === most && h("p", { class: "muted" }, `The first ${most}.`),
      );
    });
};

const row = (key, ...values) => h("tr", { "data-key": String(key) }, cells(...values));

const session = (c) =>
  [c.application_name || (c.pid === null ? "not known" : "a session"), c.role_name && `as ${c.role_name}`];

const client = (c) => [c.caller ?? "a client", `at ${c.client}`];

/** holder names who has a claim. */
export const holder = (c) => (c.client ? client(c) : session(c)).filter(Boolean).join(" ");

const lease = (c) =>
  c.deadline && new Date(c.deadline) > new Date()
    ? until(c.deadline)
    : h("td", { class: "bad" }, "over: the next receive gets them");

/** claims shows who works at what. */
export const claims = live(
  api.claims,
  (group) => `${group} has nothing claimed.`,
  ["Claim", "Held by", "Session", "Since", "Lease ends", "Messages", "First message", "Deliveries"],
  (queue, c) =>
    row(
      c.claim_id,
      h("td", { class: "n" }, c.claim_id),
      nameCell(holder(c)),
      c.pid,
      time(c.claimed_at),
      lease(c),
      c.messages,
      idCell(queue, c.first_id),
      c.attempt,
    ),
);

/** delayed shows what is not due: what was sent with a delay, and retries. */
export const delayed = live(
  api.delayed,
  (group) => `Nothing of ${group} is delayed or waits to be tried again.`,
  ["Id", "Why", "Due", "Deliveries", "Last error", "Key", "Sent", "Payload"],
  (queue, m) =>
    row(
      m.id,
      idCell(queue, m.id),
      m.attempts > 0 ? "retry" : "delayed",
      until(m.due_at),
      m.attempts,
      reasonCell(m.reason, "", () => showMessage(queue, m)),
      nameCell(m.key),
      time(m.enqueued_at),
      payloadCell(queue, m),
    ),
);

const waits = {
  time: (k) => `its time, ${until(k.due_at)}`,
  claim: () => "the consumer that has it",
  consumer: () => "a consumer",
  turn: () => "its turn",
  key_concurrency: () => "others of its key to finish",
};

// waitsFor says what the messages of a parked key wait for.
const waitsFor = (k) => waits[k.waits_for]?.(k) ?? k.waits_for;

/** parkedKeys shows the keys whose messages wait in a line of their own, and why. */
export const parkedKeys = live(
  api.parkedKeys,
  (group) => `No key of ${group} is parked.`,
  ["Key", "Messages", "First message", "Deliveries", "Waits for", "Since", "Last error"],
  (queue, k) =>
    row(
      k.first_id,
      nameCell(k.key ?? (k.lane === null ? "no key" : `no key, lane ${k.lane}`)),
      k.messages >= 1000 ? h("td", { class: "n" }, `${count(k.messages)} or more`) : k.messages,
      idCell(queue, k.first_id),
      k.attempts,
      waitsFor(k),
      time(k.parked_at),
      reasonCell(k.reason, `Key ${k.key ?? ""}`),
    ),
);
