// The view for those who may send, but not look.

import { sendMessage } from "./actions.js";
import { h } from "./dom.js";
import { may, patterns, writable } from "./mode.js";

/** senderView offers to send, to a queue or to one that the person names. */
export function senderView(place, queue) {
  const button = h(
    "button",
    { class: "main", onclick: () => sendMessage(queue), disabled: !writable() },
    "Send a message",
  );
  place.replaceChildren(
    h("h1", {}, queue ?? "Send"),
    h(
      "div",
      { class: "card empty" },
      may("produce")
        ? [
            h("p", {}, "This token may send messages, but not look at queues. It may send to:"),
            h("p", {}, patterns("produce").map((pattern) => [h("code", {}, pattern), " "])),
            button,
          ]
        : h("p", {}, "This token may do nothing with any queue. Somebody who may administer it makes another."),
    ),
  );
  return { still: true, load: async () => [] };
}
