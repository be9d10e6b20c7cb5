// Dialogs, and the notes that tell what happened.

import { h, show } from "./dom.js";

/** note tells what happened, for some seconds; an error stays longer. */
export function note(text, failed = false) {
  const box = h("div", { class: failed ? "note failed" : "note" }, text);
  document.getElementById("notes").append(box);
  setTimeout(() => box.remove(), failed ? 12000 : 5000);
}

export const wordsOf = (error) => (error.hint ? `${error.message} ${error.hint}` : error.message);

// done tells of a success, when there are words for it, and has the page look at what changed.
function done(what, result) {
  if (what) note(typeof what === "function" ? what(result) : what);
  document.dispatchEvent(new Event("changed"));
}

/** attempt does something and tells how it ended. */
export async function attempt(what, work) {
  try {
    done(what, await work());
    return true;
  } catch (error) {
    note(wordsOf(error), true);
    return false;
  }
}

/** inform opens a dialog that only shows something. */
export function inform(title, ...content) {
  open(
    h(
      "dialog",
      { "aria-label": title },
      h("h2", {}, title),
      content,
      h("form", { method: "dialog", class: "row" }, h("span", { class: "grow" }), h("button", {}, "Close")),
    ),
  );
}

function open(dialog) {
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** closeAll ends what is open, since the page goes elsewhere. */
export function closeAll() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/**
 * ask opens a dialog with fields, does the work with what is typed, and tells so in the words of `told`. While that
 * fails the dialog stays, with what was typed and the reason. Fields: {name, label, kind: "text" | "number" | "area" |
 * "select", value, options}. With `phrase` the user must type it. With `preview`, which returns {text, action} for what
 * is typed, the work can only be done once that was shown. Returns whether it was done.
 */
export function ask(about) {
  return new Promise((resolve) => {
    const form = new AskForm(about);
    const dialog = h("dialog", { "aria-label": about.title }, form.element);
    dialog.addEventListener("close", () => resolve(form.done));
    open(dialog);
  });
}

class AskForm {
  done = false;

  constructor(about) {
    this.about = about;
    this.inputs = (about.fields ?? []).map((field) => [field, input(field)]);
    this.typed = about.phrase && h("input", { type: "text", id: "phrase", autocomplete: "off" });
    this.wrong = h("p", { class: "bad", role: "alert", id: "wrong" });
    this.said = h("p", { class: "preview", role: "status" });
    this.go = h("button", { class: about.danger ? "danger" : "main", type: about.preview && "button" }, about.action);
    this.look = about.preview && h("button", { class: "main" }, "Show what it does");
    this.cancel = h("button", { type: "button", onclick: () => this.close() }, "Cancel");
    this.lock();
    this.element = this.build();
    if (about.preview) this.go.addEventListener("click", () => this.work());
    this.element.addEventListener("input", () => this.lock());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      if (about.preview) this.preview();
      else this.work();
    });
  }

  build() {
    const { title, text, phrase } = this.about;
    return h(
      "form",
      {},
      h("h2", {}, title),
      text && h("p", {}, text),
      h(
        "div",
        { class: "fields" },
        this.inputs.map(([field, element]) => [h("label", { for: element.id }, field.label), element]),
        phrase && h("label", { for: "phrase" }, `Type ${phrase} to confirm`),
        this.typed,
      ),
      this.said,
      this.wrong,
      h(
        "div",
        { class: "row" },
        this.cancel,
        h("span", { class: "grow" }),
        this.look,
        this.go,
      ),
    );
  }

  // lock forbids the work until all that it asks for is there; what was typed anew was not previewed.
  lock() {
    const { phrase, preview, action } = this.about;
    show(this.said);
    this.go.textContent = action;
    this.go.disabled = Boolean(preview) || Boolean(phrase && this.typed.value !== phrase);
  }

  values() {
    return Object.fromEntries(this.inputs.map(([field, element]) => [field.name, element.value]));
  }

  // busy does something that may fail, once at a time.
  async busy(work) {
    const fields = [...this.element.elements].filter((e) => !e.disabled && e !== this.cancel);
    const focused = document.activeElement;
    show(this.wrong);
    for (const field of fields) field.disabled = true;
    try {
      await work();
    } catch (error) {
      show(this.wrong, wordsOf(error));
    }
    for (const field of fields) field.disabled = false;
    focused?.focus();
  }

  preview() {
    const values = this.values();
    return this.busy(async () => {
      const { text, action } = await this.about.preview(values);
      show(this.said, text);
      this.go.textContent = action;
      this.go.disabled = false;
    });
  }

  work() {
    const values = this.values();
    return this.busy(async () => {
      const result = await this.about.work(values);
      this.done = true;
      this.close();
      done(this.about.told, result);
    });
  }

  close() {
    this.element.closest("dialog").close();
  }
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
    step: field.kind === "number" && "any",
    required: field.required,
    autocomplete: "off",
  });
}
