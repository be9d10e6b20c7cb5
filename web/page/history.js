// What the page has seen so far: a sample of every group each time the numbers are read, for rates and sparklines.

const keep = 60;
const samples = new Map();

const keyOf = (s) => `${s.queue} ${s.group}`;

/** remember notes the numbers of all groups. */
export function remember(groups, at = Date.now()) {
  for (const s of groups) {
    const seen = samples.get(keyOf(s)) ?? [];
    seen.push({ at, waiting: s.waiting, sent: s.sent ?? 0, delivered: s.delivered ?? 0 });
    samples.set(keyOf(s), seen.slice(-keep));
  }
}

/** speed returns how much a number of a group rose a second over the last samples; undefined before there are two. */
export function speed(s, field, over = 5) {
  const seen = (samples.get(keyOf(s)) ?? []).slice(-over - 1);
  if (seen.length < 2) return undefined;
  const [first, last] = [seen[0], seen[seen.length - 1]];
  return Math.max(0, (1000 * (last[field] - first[field])) / Math.max(1, last.at - first.at));
}

/** waitingLine returns how many messages waited for a group, oldest sample first. */
export const waitingLine = (s) => (samples.get(keyOf(s)) ?? []).map((x) => x.waiting);
