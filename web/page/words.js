// Numbers and times for people.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const count = (n, exact = true) =>
  n === undefined || n === null ? "–" : (exact ? "" : "≈ ") + whole.format(n);

/** many is a count of things: "1 message", "12,400 messages". */
export const many = (n, thing, exact = true) => `${count(n, exact)} ${thing}${Number(n) === 1 ? "" : "s"}`;

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

export const until = (text) => {
  const seconds = (new Date(text) - Date.now()) / 1000;
  return seconds > 0 ? `in ${age(seconds)}` : "now";
};

/** gist is the line of an error's text that says most: the last of a Python traceback, the first of all else. */
export function gist(reason) {
  const lines = reason.split("\n").filter((line) => line.trim());
  return (reason.startsWith("Traceback (") ? lines.at(-1) : lines[0]) ?? "";
}
