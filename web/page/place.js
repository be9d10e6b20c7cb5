// Where the page is: its address tells the view and what is chosen in it, so that a link shows another the same.

/** here returns the parts of the address and the choices in it. */
export function here() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), choices: new URLSearchParams(query) };
}

/** link makes an address of parts and choices. */
export function link(parts, choices = {}) {
  const query = String(new URLSearchParams(Object.entries(choices).filter(([, value]) => value)));
  return `#/${parts.map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

/** choose keeps choices in the address; an empty one leaves it. */
export function choose(choices) {
  const { parts, choices: old } = here();
  history.replaceState(null, "", link(parts, { ...Object.fromEntries(old), ...choices }));
}

export const queueLink = (queue, choices) => link(["queues", queue], choices);
export const messageLink = (queue, id) => link(["queues", queue, "messages", String(id)]);
export const findLink = (queue, text) => link(["queues", queue, "find", text]);
