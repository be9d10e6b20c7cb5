// How often the page asks: the database shall spend at most a hundredth of a core on a page that is open.

const share = 100;
const leastMs = 2000;
const openingMs = 5000;

/**
 * pauseMs returns how long to ask nothing after answers that took so long. The first look of a view may come with much
 * that later ones do not need, so that it delays the second one little.
 */
export const pauseMs = (costMs, opening = false) =>
  Math.min(Math.max(leastMs, share * costMs), opening ? openingMs : Infinity);
