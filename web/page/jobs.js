// What enqueues a queue's jobs: schedules and workflows. Both lists are read anew with the numbers above them.

import { api } from "./api.js";
import { age, ask, attempt, h, show, time } from "./dom.js";
import { may, writable } from "./mode.js";
import { cells, empty, guarded, inform, table } from "./table.js";

const most = 100;

/** schedules shows when jobs are enqueued, and stops, goes on with or drops that. */
export function schedules(place, queue) {
  const list = h("div");
  const reload = () =>
    guarded(list, async () => {
      const found = await api.schedules(queue);
      show(
        list,
        found.length
          ? table(
              ["Schedule", "When", "Kind", "State", "Next", "Last", ""],
              found.map((s) => h("tr", {}, scheduleCells(s, reload))),
            )
          : empty(`Nothing is scheduled on ${queue}. weir.schedule(...) does it, or PUT v1/schedules/{name}.`),
      );
    });
  show(place, list);
  return reload;
}

const scheduleCells = (s, reload) =>
  cells(
    s.name,
    s.cron ? `${s.cron} (${s.time_zone})` : `every ${age(s.every_ms / 1000)}`,
    s.kind,
    scheduleState(s),
    s.paused ? "–" : time(s.next_at),
    time(s.last_at),
    h("td", {}, may("admin", s.queue) && scheduleActions(s, reload)),
  );

function scheduleState(s) {
  if (s.paused) return h("span", { class: "tag" }, "paused");
  if (s.error) return h("td", { class: "bad" }, `fails: ${s.error}`);
  return "on";
}

function scheduleActions(s, reload) {
  const button = (text, work, look) =>
    h("button", { onclick: work, disabled: !writable(), class: look, "data-key": `${text} ${s.name}` }, text);
  const act = async (words, work) => (await attempt(words, work)) && reload();
  return [
    s.paused
      ? button("Resume", () => act(`${s.name} goes on.`, () => api.resumeSchedule(s.name)))
      : button("Pause", () => act(`${s.name} is paused.`, () => api.pauseSchedule(s.name))),
    " ",
    button("Delete", () => remove(s, act), "danger"),
  ];
}

async function remove(s, act) {
  const sure = await ask({
    title: `Delete schedule ${s.name}`,
    text: "It enqueues nothing any more. Jobs that are enqueued stay.",
    action: "Delete",
    danger: true,
  });
  if (sure) await act(`${s.name} is gone.`, () => api.unschedule(s.name));
}

/** workflows shows how chains, batches and workflows stand; a click shows their steps. */
export function workflows(place, queue) {
  const list = h("div");
  show(place, list);
  return () =>
    guarded(list, async () => {
      const found = await api.workflows(queue, most);
      show(
        list,
        found.length
          ? table(
              ["Workflow", "Name", "State", "Steps done", "Failed", "Cancelled", "Started", "Ended", ""],
              found.map((w) => h("tr", {}, workflowCells(w, queue))),
            )
          : empty(`No workflow of ${queue} runs or ended lately.`),
        found.length === most && h("p", { class: "muted" }, `The newest ${most}.`),
      );
    });
}

const workflowCells = (w, queue) =>
  cells(
    w.workflow,
    w.name,
    h("td", { class: w.state === "stopped" && "bad" }, w.state),
    h("td", { class: "n" }, w.done === null ? `of ${w.steps}` : `${w.done} of ${w.steps}`),
    w.failed,
    w.cancelled,
    time(w.created_at),
    time(w.ended_at),
    h("td", {}, h("button", { onclick: () => showSteps(w, queue), "data-key": `steps ${w.workflow}` }, "Steps")),
  );

async function showSteps(w, queue) {
  await attempt(undefined, async () => {
    const steps = await api.workflow(queue, w.workflow);
    inform(
      `Workflow ${w.workflow}${w.name ? `, ${w.name}` : ""}`,
      table(
        ["Step", "Kind", "After", "State", "Id", "Ended"],
        steps.map((s) =>
          h("tr", {}, cells(s.name, s.kind, s.after?.join(", "), s.state, s.id, time(s.ended_at))),
        ),
      ),
    );
  });
}
