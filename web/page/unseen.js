// Characters that cannot be seen, or change how others are shown: they are shown by their numbers, so that no text of a
// stranger looks like another.

const controls = "\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f";
const directions = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";
const nothing = "\\xad\\u180e\\u200b\\u2028\\u2029\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb";
const tags = "\\udb40[\\udc00-\\udc7f]";
const unseen = new RegExp(`[${controls}${directions}${nothing}]|${tags}`, "g");

const escaped = (c) =>
  [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** marked returns a text with the escapes of JSON in the place of what cannot be seen. */
export const marked = (text) => text.replace(unseen, escaped);

/** textNodes returns a text for the page, with a mark around each such escape. */
export function textNodes(text) {
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(unseen)) {
    nodes.push(document.createTextNode(text.slice(last, found.index)), mark(escaped(found[0])));
    last = found.index + found[0].length;
  }
  nodes.push(document.createTextNode(text.slice(last)));
  return nodes;
}

function mark(text) {
  const element = document.createElement("mark");
  element.title = "A character that cannot be seen";
  element.textContent = text;
  return element;
}
