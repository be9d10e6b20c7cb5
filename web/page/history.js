// What the page has seen so far: a sample of every group each time the numbers are read, for sparklines.

const keep = 60;
const samples = new Map();

const keyOf = (s) => `${s.queue} ${s.group}`;

/** remember notes the numbers of all groups. */
export function remember(groups) {
  for (const s of groups) {
    const seen = samples.get(keyOf(s)) ?? [];
    seen.push(s.waiting);
    samples.set(keyOf(s), seen.slice(-keep));
  }
}

/** waitingLine returns how many messages waited for a group, oldest sample first. */
export const waitingLine = (s) => samples.get(keyOf(s)) ?? [];
