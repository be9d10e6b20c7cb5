// What the lists of a queue's page have in common.

import { h, show, time } from "./dom.js";

/** table makes a table that scrolls within the page; the head of a column stands as its first cell does. */
export const table = (names, lines) =>
  h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          names.map((n, i) => h("th", { class: lines[0].children[i].classList.contains("n") && "n" }, n)),
        ),
      ),
      h("tbody", {}, lines),
    ),
  );

/** cells makes the cells of a line: a number goes to the right, an element as it is, nothing is a dash. */
export const cells = (...values) =>
  values.map((v) => {
    if (v instanceof Element && v.tagName === "TD") return v;
    return h("td", { class: typeof v === "number" && "n" }, v === null || v === undefined ? "–" : text(v));
  });

const text = (v) => (typeof v === "number" ? String(v) : v);

/** empty says that a list has nothing. */
export const empty = (words) => h("p", { class: "card empty muted" }, words);

/** guarded shows an error in the place of what could not be loaded. */
export async function guarded(place, work) {
  try {
    await work();
  } catch (error) {
    show(place, h("p", { class: "card bad" }, `${error.message} ${error.hint ?? ""}`));
  }
}

/** payloadCell shows the beginning of a payload; a click shows all of the message. */
export const payloadCell = (m) =>
  h(
    "td",
    { class: "body" },
    h(
      "button",
      { class: "quiet", title: "Show all of it", onclick: () => showMessage(m), "data-key": `message ${m.id}` },
      JSON.stringify(m.payload),
    ),
  );

function showMessage(m) {
  inform(
    `Message ${m.id}`,
    h("p", { class: "muted" }, `Sent ${time(m.enqueued_at)}${m.key ? `, key ${m.key}` : ""}`),
    h("pre", {}, JSON.stringify(m.payload, null, 2)),
    m.headers && h("h2", {}, "Headers"),
    m.headers && h("pre", {}, JSON.stringify(m.headers, null, 2)),
  );
}

/** inform opens a dialog that only shows something. */
export function inform(title, ...content) {
  const dialog = h(
    "dialog",
    { "aria-label": title },
    h("h2", {}, title),
    content,
    h("form", { method: "dialog", class: "row" }, h("span", { class: "grow" }), h("button", {}, "Close")),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
