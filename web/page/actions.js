// What changes a queue. Whatever takes something away says first how much.

import { api } from "./api.js";
import { ask, attempt, note, wordsOf } from "./dialog.js";
import { read } from "./json.js";
import { count, many } from "./words.js";

const unfinished = (s) => s.waiting + s.claimed + s.delayed + s.parked;
const isExact = (stats) => stats.every((s) => s.exact !== false);
const sum = (stats, of) => stats.reduce((n, s) => n + of(s), 0);

// asked opens a dialog about what is there at this moment.
async function asked(queue, group, about) {
  let stats;
  try {
    stats = (await api.stats(queue)).filter((s) => group === undefined || s.group === group);
  } catch (error) {
    note(wordsOf(error), true);
    return false;
  }
  return ask(about(stats));
}

/** sendMessage sends to a queue, or to one that the person names. */
export function sendMessage(queue) {
  return ask({
    title: queue ? `Send a message to ${queue}` : "Send a message",
    action: "Send",
    fields: [
      ...(queue ? [] : [{ name: "queue", label: "Queue", required: true }]),
      { name: "payload", label: "Payload, JSON", kind: "area", value: '{"hello": "world"}' },
      { name: "key", label: "Key, or nothing" },
      { name: "delay", label: "Delay in seconds", kind: "number", value: 0, min: 0 },
    ],
    work: (typed) =>
      api.send(queue ?? typed.queue, {
        payload: read(typed.payload),
        ...(typed.key && { key: typed.key }),
        ...(Number(typed.delay) > 0 && { delay_ms: Math.round(1000 * Number(typed.delay)) }),
      }),
    told: (r) => `Sent: message ${r.ids[0]}.`,
  });
}

export const addGroup = (queue) =>
  ask({
    title: `Add a group to ${queue}`,
    text: "A group is delivered every message of the queue.",
    action: "Add",
    fields: [
      { name: "name", label: "Name", required: true },
      {
        name: "ordered",
        label: "One key's messages one after the other",
        kind: "select",
        options: ["no", "yes"],
        value: "no",
      },
      { name: "start", label: "Begin with", kind: "select", options: ["start", "end"], value: "start" },
    ],
    work: (typed) =>
      api.createGroup(queue, typed.name, { ordered: typed.ordered === "yes", start: typed.start }),
    told: (made) => `Group ${made.group} is there.`,
  });

/** seek moves a group, once the person has seen what that does. */
export function seek(queue, group) {
  let position;
  return ask({
    title: `Move ${group} of ${queue}`,
    text: "Back: it is delivered again what is kept. Forward: what waits is passed over.",
    fields: [
      {
        name: "position",
        label: "start, end, a time such as 2030-01-31 12:00+00, or a message's id",
        required: true,
      },
    ],
    action: "Seek",
    danger: true,
    preview: async (typed) => sought(group, await api.previewSeek(queue, group, typed.position)),
    work: (typed) => {
      position = typed.position;
      return api.seek(queue, group, position);
    },
    told: () => `${group} goes on at ${position}.`,
  });
}

// sought says what a seek would do.
function sought(group, { before, after, skips, redelivers, exact }) {
  const then = `${group} has ${many(before, "unfinished message", exact)} now and ${count(after, exact)} then.`;
  if (skips > 0) return { text: `Skips ${count(skips, exact)}: ${then}`, action: `Skip ${count(skips, exact)}` };
  if (redelivers > 0) {
    return {
      text: `Redelivers ${count(redelivers, exact)}: ${then}`,
      action: `Redeliver ${count(redelivers, exact)}`,
    };
  }
  return { text: `Skips none and redelivers none: ${then}`, action: "Seek" };
}

/** purge drops what a group, or every group, has not finished. */
export const purge = (queue, group) =>
  asked(queue, group, (stats) => ({
    title: group ? `Purge group ${group} of ${queue}` : `Purge ${queue}`,
    text:
      `Drops ${many(sum(stats, unfinished), "message", isExact(stats))}: ` +
      `${group ? "what the group has" : "all that its groups have"} not finished` +
      `${stats.length > 1 ? `, ${each(stats)}` : ""}. This cannot be undone.`,
    phrase: queue,
    action: "Purge",
    danger: true,
    work: () => api.purge(queue, group),
    told: (r) => `${many(r.purged, "message")} dropped.`,
  }));

const each = (stats) => stats.map((s) => `${count(unfinished(s), s.exact !== false)} of ${s.group}`).join(", ");

/** drop removes a queue. */
export const drop = (queue) =>
  asked(queue, undefined, (stats) => ({
    title: `Drop ${queue}`,
    text: `The queue goes with ${lost(stats)}, its groups and rights. This cannot be undone.`,
    phrase: queue,
    action: "Drop",
    danger: true,
    work: async () => {
      await api.dropQueue(queue);
      location.hash = "#/";
    },
    told: `${queue} is gone.`,
  }));

/** dropGroup removes a group. */
export const dropGroup = (queue, group) =>
  asked(queue, group, (stats) => ({
    title: `Drop group ${group} of ${queue}`,
    text: `The group goes with ${lost(stats)}; other groups do not notice.`,
    phrase: group,
    action: "Drop",
    danger: true,
    work: () => api.dropGroup(queue, group),
    told: `Group ${group} is gone.`,
  }));

const lost = (stats) =>
  `${many(sum(stats, unfinished), "unfinished message", isExact(stats))} and ` +
  many(sum(stats, (s) => s.dead), "dead letter", isExact(stats));

const ended = {
  redrive: (r) => `${many(r.redriven, "dead letter")} sent back.`,
  discard: (r) => `${many(r.discarded, "dead letter")} removed.`,
};

/** redriveSome sends dead letters back that the person chose. */
export const redriveSome = (queue, group, ids) =>
  attempt(ended.redrive, () => api.redrive(queue, group, { ids }));

/** redriveAll sends all dead letters of a group back. */
export const redriveAll = (queue, group) =>
  asked(queue, group, ([s]) => ({
    title: `Redrive all dead letters of ${group}`,
    text: `Redelivers ${many(s.dead, "dead letter", s.exact !== false)} to ${group} of ${queue}.`,
    action: "Redrive",
    danger: true,
    work: () => api.redrive(queue, group, { all: true }),
    told: ended.redrive,
  }));

/** discardSome removes dead letters that the person chose. */
export const discardSome = (queue, group, ids) =>
  ask({
    title: `Discard ${many(ids.length, "dead letter")}`,
    text: "They are removed for good.",
    action: "Discard",
    danger: true,
    work: () => api.discard(queue, group, { ids }),
    told: ended.discard,
  });

/** discardAll removes all dead letters of a group. */
export const discardAll = (queue, group) =>
  asked(queue, group, ([s]) => ({
    title: `Discard all dead letters of ${group}`,
    text: `Removes ${many(s.dead, "dead letter", s.exact !== false)} of ${group} of ${queue} for good.`,
    phrase: queue,
    action: "Discard",
    danger: true,
    work: () => api.discard(queue, group, { all: true }),
    told: ended.discard,
  }));
