// What enqueues a queue's jobs: schedules and workflows.

import { api } from "./api.js";
import { ask, attempt, inform, note, wordsOf } from "./dialog.js";
import { h, show } from "./dom.js";
import { may, writable } from "./mode.js";
import { messageLink } from "./place.js";
import { cells, empty, guarded, nameCell, reasonCell, table } from "./table.js";
import { age, time } from "./words.js";

const most = 100;

/** schedules shows when jobs are enqueued, and stops, goes on with or drops that. */
export function schedules(place, queue) {
  const list = h("div");
  place.replaceChildren(list);
  return () =>
    guarded(list, async () => {
      const found = await api.schedules(queue);
      show(
        list,
        found.length
          ? table(
              ["Schedule", "When", "Kind", "State", "Next", "Last", ""],
              found.map((s) => h("tr", { "data-key": s.name }, scheduleCells(s))),
            )
          : empty(`Nothing is scheduled on ${queue}. weir.schedule(...) does it, or PUT v1/schedules/{name}.`),
      );
    });
}

const scheduleCells = (s) =>
  cells(
    nameCell(s.name),
    s.cron ? `${s.cron} (${s.time_zone})` : `every ${age(s.every_ms / 1000)}`,
    s.kind,
    scheduleState(s),
    s.paused ? "–" : time(s.next_at),
    time(s.last_at),
    h("td", {}, may("admin", s.queue) && scheduleActions(s)),
  );

function scheduleState(s) {
  if (s.paused) return h("span", { class: "tag" }, "paused");
  if (s.error) return reasonCell(`fails: ${s.error}`, `Schedule ${s.name}`);
  return "on";
}

function scheduleActions(s) {
  const button = (text, work, look) =>
    h(
      "button",
      {
        onclick: work,
        disabled: !writable(),
        class: look,
        "aria-label": `${text} schedule ${s.name}`,
        "data-key": `${text} ${s.name}`,
      },
      text,
    );
  return h(
    "div",
    { class: "acts" },
    s.paused
      ? button("Resume", () => attempt(`${s.name} goes on.`, () => api.resumeSchedule(s.name)))
      : button("Pause", () => attempt(`${s.name} is paused.`, () => api.pauseSchedule(s.name))),
    button("Delete", () => remove(s), "danger"),
  );
}

const remove = (s) =>
  ask({
    title: `Delete schedule ${s.name}`,
    text: "It enqueues nothing any more. Jobs that are enqueued stay.",
    action: "Delete",
    danger: true,
    work: () => api.unschedule(s.name),
    told: `${s.name} is gone.`,
  });

/** workflows shows how chains, batches and workflows stand; a click shows their steps. */
export function workflows(place, queue) {
  const list = h("div");
  place.replaceChildren(list);
  return () =>
    guarded(list, async () => {
      const found = await api.workflows(queue, most);
      show(
        list,
        found.length
          ? table(
              ["Workflow", "Name", "State", "Steps done", "Failed", "Cancelled", "Started", "Ended", ""],
              found.map((w) => h("tr", { "data-key": String(w.workflow) }, workflowCells(w, queue))),
            )
          : empty(`No workflow of ${queue} runs or ended lately.`),
        found.length === most && h("p", { class: "muted" }, `The newest ${most}.`),
      );
    });
}

const workflowCells = (w, queue) =>
  cells(
    h("td", { class: "n" }, w.workflow),
    nameCell(w.name),
    h("td", { class: w.state === "stopped" && "bad" }, w.state),
    h("td", { class: "n" }, w.done === null ? `of ${w.steps}` : `${w.done} of ${w.steps}`),
    w.failed,
    w.cancelled,
    time(w.created_at),
    time(w.ended_at),
    h(
      "td",
      {},
      h(
        "button",
        { onclick: () => showSteps(w, queue), "aria-label": `Steps of workflow ${w.workflow}` },
        "Steps",
      ),
    ),
  );

async function showSteps(w, queue) {
  try {
    const steps = await api.workflow(queue, w.workflow);
    inform(
      `Workflow ${w.workflow}${w.name ? `, ${w.name}` : ""}`,
      table(
        ["Step", "Kind", "After", "State", "Id", "Ended"],
        steps.map((s) => h("tr", {}, stepCells(s, queue))),
      ),
    );
  } catch (error) {
    note(wordsOf(error), true);
  }
}

const stepCells = (s, queue) =>
  cells(
    s.name,
    s.kind,
    s.after?.join(", "),
    s.state,
    s.id && h("a", { href: messageLink(queue, s.id) }, String(s.id)),
    time(s.ended_at),
  );
