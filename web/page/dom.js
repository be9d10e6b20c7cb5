// Small means to build the page: elements, and changing in place what is shown.

import { marked, textNodes } from "./unseen.js";

const listeners = Symbol("listeners");

/** h makes an element: h("a", {href: "#/"}, "text", child). Properties that begin with "on" are listeners. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) listen(element, name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : marked(String(value)));
  }
  element.append(...nodes(children));
  return element;
}

const nodes = (children) =>
  children
    .flat(Infinity)
    .filter((c) => c !== null && c !== undefined && c !== false)
    .flatMap((c) => (c instanceof Node ? [c] : textNodes(String(c))));

// listen has one listener a kind of event, so that it can be exchanged when the element is kept.
function listen(element, name, work) {
  const kept = (element[listeners] ??= {});
  if (!(name in kept)) element.addEventListener(name, (event) => element[listeners][name]?.(event));
  kept[name] = work;
}

/**
 * show has a place hold some content. What is there and alike is kept and changed where it differs, so that neither
 * focus, selection nor scrolling is lost: elements with a data-key are alike by that. Who keeps an element to change it
 * later puts it there with replaceChildren, since show may keep another in its place.
 */
export const show = (place, ...content) => patchChildren(place, nodes(content));

const keyOf = (node) => node.dataset?.key;

const alike = (a, b) => a.nodeName === b.nodeName && keyOf(a) === keyOf(b) && a.type === b.type;

function patchChildren(place, wanted) {
  const given = new Set(wanted);
  const keys = new Set(wanted.map(keyOf));
  const keyed = new Map([...place.childNodes].filter(keyOf).map((node) => [keyOf(node), node]));
  const stays = (node) => given.has(node) || (keyOf(node) !== undefined && keys.has(keyOf(node)));
  let next = place.firstChild;
  for (const node of wanted) {
    while (next && !stays(next) && !alike(next, node)) next = removed(next);
    const found = node.parentNode === place ? node : keyOf(node) ? keyed.get(keyOf(node)) : next;
    if (!found || found === node || !alike(found, node) || (found === next && given.has(found))) {
      if (node === next) next = next.nextSibling;
      else place.insertBefore(node, next);
      continue;
    }
    patch(found, node);
    if (found === next) next = next.nextSibling;
    else place.insertBefore(found, next);
  }
  while (next) next = removed(next);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function patch(old, wanted) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== wanted.data) old.data = wanted.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of Object.keys(old[listeners] ?? {})) listen(old, name, wanted[listeners]?.[name]);
  for (const [name, work] of Object.entries(wanted[listeners] ?? {})) listen(old, name, work);
  if (old.type === "checkbox") old.checked = wanted.checked;
  patchChildren(old, [...wanted.childNodes]);
  if (old.nodeName === "SELECT") old.value = wanted.value;
}

/** spark draws a series of numbers as a line. */
export function spark(series, label) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", "0 0 100 22");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  if (series.length > 1) {
    const top = Math.max(...series, 1e-9);
    const line = document.createElementNS(ns, "polyline");
    line.setAttribute(
      "points",
      series.map((v, i) => `${(100 * i) / (series.length - 1)},${21 - (20 * v) / top}`).join(" "),
    );
    svg.append(line);
  }
  return svg;
}
