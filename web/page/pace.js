// How often the page asks: the database shall spend at most a hundredth of a core on a page that is open.

const share = 100;
const leastMs = 2000;

/** openingMs is the longest pause after the first look of a view, which may need much that later ones do not. */
export const openingMs = 5000;

/** failedMs is the longest pause after a look that failed, since most of its time may have been waiting. */
export const failedMs = 30000;

/** pauseMs returns how long to ask nothing after answers that took so long. */
export const pauseMs = (costMs, mostMs = Infinity) => Math.min(Math.max(leastMs, share * costMs), mostMs);
