// What the page may do: what the server lets its caller do, and less while the switch for people who only want to look
// is on, which is kept in this browser.

import { api } from "./api.js";

const box = document.getElementById("read-only");
let me = { grants: [] };

// In a pattern * stands for any characters; all others of a pattern are letters, digits, _, - and dots.
const covers = (pattern, queue) =>
  new RegExp(`^${pattern.replaceAll(".", "[.]").replaceAll("*", ".*")}$`).test(queue);

/** may tells whether the server lets the page do something with a queue, or without a queue with any at all. */
export const may = (verb, queue) =>
  (verb === "read" || !me.read_only) &&
  me.grants.some(
    (g) =>
      (g.verbs.includes(verb) ||
        (verb === "read" && (g.verbs.includes("consume") || g.verbs.includes("admin")))) &&
      (queue === undefined || g.queues.some((pattern) => covers(pattern, queue))),
  );

/** patterns returns which queues the caller may do something with. */
export const patterns = (verb) => me.grants.filter((g) => g.verbs.includes(verb)).flatMap((g) => g.queues);

/** writable tells whether the person wants to change anything. */
export const writable = () => !box.checked;

/** learn asks the server who the page is and what it may do. */
export async function learn() {
  me = await api.whoami();
  me.grants ??= [];
  const looksOnly = !["produce", "consume", "admin"].some((verb) => may(verb));
  document.getElementById("who").textContent = [me.name, looksOnly && "read only"].filter(Boolean).join(", ");
  document.getElementById("sign-out").hidden = me.kind === "anybody";
  box.closest("label").hidden = looksOnly;
}

/** followMode calls back when the switch is turned. */
export function followMode(turned) {
  box.checked = localStorage.getItem("weir-read-only") === "yes";
  box.addEventListener("change", () => {
    localStorage.setItem("weir-read-only", box.checked ? "yes" : "no");
    turned();
  });
}
