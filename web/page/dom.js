// Small means to build the page: elements, numbers for people, dialogs and notes.

/** h makes an element: h("a", {href: "#/"}, "text", child). Properties that begin with "on" are listeners. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

/** show replaces what a place holds and leaves the focus where it was, by the element's data-key. */
export function show(place, ...content) {
  const key = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...content.flat().filter(Boolean));
  if (key) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const count = (n, exact = true) =>
  n === undefined || n === null ? "–" : (exact ? "" : "≈ ") + whole.format(n);
export const rate = (n) => (n === undefined || n === null ? "–" : `${short.format(n)}/s`);

export function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; n >= 1000 && unit < units.length - 1; unit++) n /= 1000;
  return `${short.format(n)} ${units[unit]}`;
}

export function age(seconds) {
  if (!seconds) return "–";
  for (const [unit, length] of [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
  ]) {
    if (seconds >= length) return `${short.format(seconds / length)} ${unit}`;
  }
  return `${short.format(seconds)} s`;
}

export const time = (text) => (text ? new Date(text).toLocaleString() : "–");

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

/** note tells what happened, for some seconds; an error stays longer. */
export function note(text, failed = false) {
  const box = h("div", { class: failed ? "note failed" : "note" }, text);
  document.getElementById("notes").append(box);
  setTimeout(() => box.remove(), failed ? 12000 : 5000);
}

/** attempt does something and tells how it ended, a success only when there are words for it. */
export async function attempt(what, work) {
  try {
    const result = await work();
    if (what) note(typeof what === "function" ? what(result) : what);
    return true;
  } catch (error) {
    note(error.hint ? `${error.message} ${error.hint}` : error.message, true);
    return false;
  }
}

/**
 * ask opens a dialog with fields and waits. Fields: {name, label, kind: "text" | "number" | "area" | "select", value,
 * options}. With `phrase` the user must type it. Returns the values, or null when it was cancelled.
 */
export function ask({ title, text, fields = [], phrase, action, danger }) {
  return new Promise((resolve) => {
    const inputs = fields.map((f) => [f.name, input(f)]);
    const typed = phrase && h("input", { type: "text", id: "phrase", autocomplete: "off" });
    const go = h(
      "button",
      { class: danger ? "danger" : "main", value: "go", disabled: Boolean(phrase) },
      action,
    );
    typed?.addEventListener("input", () => {
      go.disabled = typed.value !== phrase;
    });
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", {}, title),
      text && h("p", {}, text),
      h(
        "div",
        { class: "fields" },
        fields.map((f, i) => [h("label", { for: `field-${f.name}` }, f.label), inputs[i][1]]).flat(),
        phrase && h("label", { for: "phrase" }, `Type ${phrase} to confirm`),
        typed,
      ),
      h(
        "div",
        { class: "row" },
        h("span", { class: "grow" }),
        h("button", { value: "", formnovalidate: true }, "Cancel"),
        go,
      ),
    );
    const dialog = h("dialog", {}, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "go" ? Object.fromEntries(inputs.map(([n, e]) => [n, e.value])) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function input(field) {
  const common = { id: `field-${field.name}`, name: field.name, placeholder: field.placeholder };
  if (field.kind === "area") return h("textarea", { ...common, spellcheck: "false" }, field.value ?? "");
  if (field.kind === "select") {
    return h(
      "select",
      common,
      field.options.map((o) => h("option", { value: o, selected: o === field.value }, o)),
    );
  }
  return h("input", {
    ...common,
    type: field.kind ?? "text",
    value: field.value,
    min: field.min,
    required: field.required,
  });
}
