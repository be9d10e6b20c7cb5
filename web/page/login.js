// Asking for a token, where the server does.

import { h, show } from "./dom.js";
import { learn } from "./mode.js";
import { token } from "./token.js";

/** login asks for a token in a place, and other tabs for theirs, until the server takes one, and calls back then. */
export function login(place, done) {
  for (const id of ["sign-out", "trouble"]) document.getElementById(id).hidden = true;
  for (const id of ["who", "fresh"]) show(document.getElementById(id));
  const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const wrong = h("p", { class: "bad", role: "alert" });
  const enter = async (text) => {
    token.set(text);
    try {
      await learn();
    } catch (error) {
      token.refuse();
      show(wrong, error.message);
      return;
    }
    done();
  };
  const form = h(
    "form",
    {
      class: "card empty",
      onsubmit: (event) => {
        event.preventDefault();
        enter(field.value.trim());
      },
    },
    h("h2", {}, "This server asks for a token"),
    h("p", {}, "Somebody who may administer it makes one:"),
    h("code", {}, "weir token create NAME"),
    h("p", {}, h("label", { for: "token" }, "Token "), field),
    wrong,
    h("button", { class: "main" }, "Sign in"),
  );
  place.replaceChildren(form);
  field.focus();
  token.borrow(enter);
}
