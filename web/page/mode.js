// Whether the page may change anything: a switch for people who only want to look, kept in this browser.

const box = document.getElementById("read-only");

export const writable = () => !box.checked;

/** followMode calls back when the switch is turned. */
export function followMode(turned) {
  box.checked = localStorage.getItem("weir-read-only") === "yes";
  box.addEventListener("change", () => {
    localStorage.setItem("weir-read-only", box.checked ? "yes" : "no");
    turned();
  });
}
