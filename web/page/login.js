// Asking for a token, where the server does.

import { token } from "./api.js";
import { h } from "./dom.js";
import { learn } from "./mode.js";

/** login asks for a token in a place until the server takes one, and calls back then. */
export function login(place, done) {
  token.forget();
  for (const id of ["sign-out", "trouble"]) document.getElementById(id).hidden = true;
  document.getElementById("who").textContent = "";
  const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const wrong = h("p", { class: "bad", role: "alert" });
  const form = h(
    "form",
    { class: "card empty" },
    h("h2", {}, "This server asks for a token"),
    h("p", {}, "Somebody who may administer it makes one:"),
    h("code", {}, "weir token create NAME"),
    h("p", {}, h("label", { for: "token" }, "Token "), field),
    wrong,
    h("button", { class: "main" }, "Sign in"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    token.set(field.value.trim());
    try {
      await learn();
    } catch (error) {
      token.forget();
      wrong.textContent = error.message;
      return;
    }
    done();
  });
  place.replaceChildren(form);
  field.focus();
}
