// What the lists of a queue's page have in common.

import { inform, wordsOf } from "./dialog.js";
import { h, show } from "./dom.js";
import { pretty, Raw } from "./json.js";
import { messageLink } from "./place.js";
import { gist, time } from "./words.js";

/** table makes a table that scrolls within the page; the head of a column stands as its first cell does. */
export const table = (names, lines) =>
  h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "A list that may be wider than the page" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          names.map((n, i) =>
            h("th", { class: lines[0]?.children[i]?.classList.contains("n") && "n", scope: "col" }, n),
          ),
        ),
      ),
      h("tbody", {}, lines),
    ),
  );

/** cells makes the cells of a line: a number goes to the right, a cell as it is, nothing is a dash. */
export const cells = (...values) =>
  values.map((v) => {
    if (v instanceof Element && v.tagName === "TD") return v;
    return h("td", { class: typeof v === "number" && "n" }, v === null || v === undefined ? "–" : v);
  });

/** nameCell is for a name or a key, however long: it goes over several lines. */
export const nameCell = (...content) => h("td", { class: "name" }, content[0] === null ? "–" : content);

/** empty says that a list has nothing. */
export const empty = (words) => h("p", { class: "card empty muted" }, words);

/** guarded shows an error in the place of what could not be loaded. */
export async function guarded(place, work) {
  try {
    await work();
  } catch (error) {
    show(place, h("p", { class: "card bad" }, wordsOf(error)));
  }
}

/** textOf is a document as it stands in a line. */
export const textOf = (document) => (document instanceof Raw ? document.text : JSON.stringify(document));

/** idCell leads to all that is known of a message. */
export const idCell = (queue, id) => h("td", { class: "n" }, h("a", { href: messageLink(queue, id) }, String(id)));

const most = 300; // characters of a payload in a line; the dialog shows all

/** payloadCell shows the beginning of a payload; a click shows all of the message. */
export const payloadCell = (queue, m) =>
  h(
    "td",
    { class: "body" },
    h(
      "button",
      { class: "quiet", title: "Show all of it", onclick: () => showMessage(queue, m) },
      textOf(m.payload).slice(0, most),
    ),
  );

/** reasonCell shows what says most of an error; a click shows all that `work` opens, or the whole of it. */
export const reasonCell = (reason, title, work) =>
  reason === null || reason === undefined
    ? h("td", {}, "–")
    : h(
        "td",
        { class: "reason" },
        h(
          "button",
          { class: "quiet", title: "Show all of it", onclick: work ?? (() => inform(title, h("pre", {}, reason))) },
          gist(reason).slice(0, most),
        ),
      );

/** showMessage opens a dialog with all of a message that a list knows. */
export function showMessage(queue, m) {
  const facts = [
    ["Key", m.key],
    ["Sent", time(m.enqueued_at)],
    ["Deliveries", m.attempts ?? m.attempt],
    ["Due", m.due_at && time(m.due_at)],
    ["Died", m.died_at && time(m.died_at)],
  ].filter(([, value]) => value !== undefined && value !== null && value !== "");
  inform(
    `Message ${m.id}`,
    h(
      "dl",
      { class: "plain" },
      facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    m.reason && [h("h3", {}, "Reason"), h("pre", {}, m.reason)],
    documents(m),
    h("p", {}, h("a", { href: messageLink(queue, m.id) }, "What each group did with it")),
  );
}

/** documents shows the payload and the headers of a message. */
export const documents = (m) => [
  h("h3", {}, "Payload"),
  m.body === undefined
    ? h("pre", {}, m.payload instanceof Raw ? pretty(m.payload) : "null")
    : h("pre", {}, `${m.body} (bytes, as base64)`),
  m.headers && [h("h3", {}, "Headers"), h("pre", {}, pretty(m.headers))],
];
